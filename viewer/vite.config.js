import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

// One file with everything in it, which the program embeds.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { outDir: process.env.OUT ?? 'dist', target: 'es2022', modulePreload: false, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  logLevel: 'warn',
});
