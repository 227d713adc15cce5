import { describe, test } from 'vitest';
import { runsLong } from './runs-long.ts';

/** Takes the place of `test` where long tests do not run. Registers nothing. */
const nothing = Object.assign(() => undefined, { each: () => () => undefined });

/** `test` for a long test, in a file that also has short ones. */
export const longTest = runsLong ? test : (nothing as unknown as typeof test);

/** `describe` for a suite that has only long tests. */
export const longDescribe = runsLong ? describe : (nothing as unknown as typeof describe);
