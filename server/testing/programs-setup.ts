import { provideTestPrograms } from './programs.ts';

/** Runs before a suite, so that one suite alone finds the same programs as `npm test`. */
export default async function setup(): Promise<void> {
  for (const { name, shows, reason } of await provideTestPrograms()) {
    process.stderr.write(`${name} is missing (${reason}); not tested: ${shows}.\n`);
  }
}
