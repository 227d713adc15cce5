import type { ExtensionStep, HandlerState } from '#protocol/index.ts';

/** The extension states that are reported for a command. */
export interface ReportedStates {
  during: HandlerState;
  /** State after exit code 0; null if it does not change. */
  after: HandlerState | null;
  /**
   * Whether a failure ends the extension's round. A removal continues whichever command fails (AZ-G5). A replacement
   * continues if `disable` or `uninstall` of the old version fails, but not if another command fails.
   */
  isFatal: boolean;
}

export function reportedStatesOf({ kind, purpose }: ExtensionStep): ReportedStates {
  if (purpose === 'remove') {
    return { during: kind === 'disable' ? 'disabling' : 'uninstalling', after: null, isFatal: false };
  }
  if (kind === 'update') return { during: 'updating', after: null, isFatal: true };
  if (kind === 'install') return { during: 'installing', after: 'installed', isFatal: true };
  if (purpose !== 'goal') return { during: 'updating', after: null, isFatal: false };
  if (kind === 'enable') return { during: 'enabling', after: 'enabled', isFatal: true };
  return { during: 'disabling', after: 'disabled', isFatal: true };
}
