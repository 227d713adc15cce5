import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../..');
/** CommonJS packages load Node's built-in modules with `require`. */
const banner = `#!/usr/bin/env node
import { createRequire as annexRequire } from 'node:module';
const require = annexRequire(import.meta.url);`;

/**
 * Bundles the guest agent and the npm packages that it uses into one file. The same sources always result in the same
 * bytes.
 */
export async function bundleAgent(file: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['agent/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: { js: banner },
    define: { ANNEX_UNIT_TOOLS: JSON.stringify(await bundleUnitTools()) },
    legalComments: 'eof',
    logLevel: 'warning',
  });
  await chmod(file, 0o755);
}

/** Bundles the commands for hooks into one small program, which the agent's file contains as a text. */
export async function bundleUnitTools(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['agent/unit-tools/main.ts'],
    bundle: true,
    write: false,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
