import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parityFaults, type Translation } from './translation-parity.ts';

const folder = path.resolve(import.meta.dirname, '../locales');

function read(language: string): Translation {
  const files = readdirSync(path.join(folder, language)).filter((file) => file.endsWith('.json'));
  return Object.fromEntries(
    files.map((file) => [file, JSON.parse(readFileSync(path.join(folder, language, file), 'utf8'))]),
  );
}

const english = read('en');
const languages = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const faults = languages.flatMap((language) => parityFaults(language, english, read(language)));
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
