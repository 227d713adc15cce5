import { newRound, type Round } from '#protocol/index.ts';
import { ExitCodes } from './exit-codes.ts';

/** A round with the exit codes that later commands of it get. */
export interface ExtensionRound extends Round {
  exitCodes: ExitCodes;
}

export function newExtensionRound(enableAfterRestart: boolean): ExtensionRound {
  return { ...newRound(), enableAfterRestart, exitCodes: new ExitCodes() };
}
