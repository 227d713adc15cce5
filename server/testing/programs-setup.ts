import { noteOf, provideTestPrograms } from './programs.ts';

/** Runs before a suite, so that a suite that runs alone finds the same programs as with `npm test`. */
export default async function setup(): Promise<void> {
  for (const missing of await provideTestPrograms()) process.stderr.write(`${noteOf(missing)}\n`);
}
