import { newRound, type Round } from '#protocol/index.ts';
import { ExitCodes } from './exit-codes.ts';

/** A round, and the exit codes of its commands, which later commands receive. */
export interface ExtensionRound extends Round {
  exitCodes: ExitCodes;
}

export function newExtensionRound(enableAfterRestart: boolean): ExtensionRound {
  return { ...newRound(), enableAfterRestart, exitCodes: new ExitCodes() };
}
