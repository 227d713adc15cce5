import { noteOf, provideTestPrograms } from './programs.ts';

/** Runs before a suite, so that a single suite finds the same programs as `npm test`. */
export default async function setup(): Promise<void> {
  for (const missing of await provideTestPrograms()) process.stderr.write(`${noteOf(missing)}\n`);
}
