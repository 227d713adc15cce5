import { registerHooks } from 'node:module';

/*
 * Speeds up the start of a process: `node --import server/platform/quick-imports.ts …`. For each import, Node 24 reads
 * the manifests of folders and parses the `exports` of the imported package again. drizzle-orm's `exports` are 170 KB
 * long. Together, this would take two thirds of the time to load Annex's modules. These imports are resolved here:
 * - between Annex's own files, whose paths are complete;
 * - from Annex's files to packages, which are looked up once for all files;
 * - between drizzle-orm's own files.
 */
const root = new URL('../../', import.meta.url).href;
const packages = `${root}node_modules/`;
const drizzle = `${packages}drizzle-orm/`;
const found = new Map<string, ReturnType<typeof resolved>>();

const resolved = (url: string, format: string | null | undefined) => ({ url, format, shortCircuit: true });

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL ?? '';
    if (parent.startsWith(drizzle) && specifier.startsWith('.') && specifier.endsWith('.js')) {
      return resolved(new URL(specifier, parent).href, 'module');
    }
    const isOurs = /\.tsx?(?:\?|$)/.test(parent) && parent.startsWith(root) && !parent.startsWith(packages);
    if (!isOurs || context.conditions.includes('require')) return next(specifier, context);
    if (/^[.#].*\.ts$/.test(specifier)) {
      const path = specifier.startsWith('#') ? new URL(specifier.slice(1), root) : new URL(specifier, parent);
      return resolved(path.href, 'module-typescript');
    }
    if (!/^[a-z@]/.test(specifier) || specifier.startsWith('node:')) return next(specifier, context);
    const known = found.get(specifier);
    if (known !== undefined) return known;
    const { url, format } = next(specifier, context);
    found.set(specifier, resolved(url, format));
    return resolved(url, format);
  },
});
