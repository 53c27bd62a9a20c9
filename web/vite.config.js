// Builds index.html, the scripts and the style sheet into one file, page.html, that opens from disk.
// The policy for content in it names the hash of its one script, so that no other script can run.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// What the program looks for to put the data in.
const marker = '<script type="application/json" id="facet-data">{}</script>';

function oneFile() {
  return {
    name: 'facet-one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const styles = Object.values(bundle).filter((file) => file.fileName.endsWith('.css'));
      const page = Object.values(bundle).find((file) => file.fileName.endsWith('.html'));
      if (chunks.length !== 1 || styles.length !== 1 || !page) {
        this.error(`expected one script, one style sheet and one page, found ${Object.keys(bundle)}`);
      }
      const script = chunks[0].code.trim().replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--');
      const style = String(styles[0].source).trim();
      const hash = createHash('sha256').update(script).digest('base64');
      const bare = String(page.source).replace(
        /^\s*<(script|link)\b[^>]*\b(src|href)="[^"]*\.(js|css)"[^>]*>(<\/script>)?\n/gm,
        '',
      );
      if (/<(script|link|img)\b[^>]*\b(src|href)="(?!data:)/.test(bare)) this.error('the page refers to another file');
      if (bare.split(marker).length !== 2) this.error(`the page must hold this once: ${marker}`);
      const html = bare
        .replace('SCRIPT-HASH', () => `sha256-${hash}`)
        .replace('</head>', () => `<style>${style}</style>\n</head>`)
        .replace('</body>', () => `<script type="module">${script}</script>\n</body>`);
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: 'asset', fileName: 'page.html', source: html });
    },
  };
}

export default defineConfig({
  base: './',
  assetsInclude: ['**/*.wasm'],
  plugins: [oneFile()],
  build: {
    target: 'es2021',
    outDir: process.env.FACET_PAGE_DIR ?? fileURLToPath(new URL('.', import.meta.url)),
    emptyOutDir: false,
    copyPublicDir: false,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
