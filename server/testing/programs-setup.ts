import { noteOf, provideTestPrograms } from './programs.ts';

/** Runs before a suite, so that it finds the same programs alone as with `npm test`. */
export default async function setup(): Promise<void> {
  for (const missing of await provideTestPrograms()) process.stderr.write(`${noteOf(missing)}\n`);
}
