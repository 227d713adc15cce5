import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { namedTestFaults } from './named-tests.ts';

const root = path.resolve(import.meta.dirname, '..');
const pages = { 'SECURITY.md': 'rows', 'docs/operations.md': 'sections' } as const;

const faults = Object.entries(pages).flatMap(([file, unit]) =>
  namedTestFaults(readFileSync(path.join(root, file), 'utf8'), unit, (test) => existsSync(path.join(root, test))).map(
    (fault) => `${file}: ${fault}`,
  ),
);
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
