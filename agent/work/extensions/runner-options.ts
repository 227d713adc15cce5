import type { KeyCopies } from '../../identity/key-copies.ts';
import type { Journal } from '../../journal.ts';
import type { Portal } from '../../portal/portal.ts';
import type { LogUpload } from '../../report/log-uploads.ts';
import type { Observer } from '../../watch/observer.ts';
import type { Machine } from '../machine.ts';
import type { PendingRestart } from '../restart.ts';

/** Dependencies of the runner and its command steps. */
export interface RunnerOptions {
  machine: Machine;
  portal: Portal;
  observer: Observer;
  keys: KeyCopies;
  journal: Journal;
  /** The agent's own environment; handlers get only a documented part of it. */
  environment: Record<string, string | undefined>;
  /** Uploads the complete output of a command. */
  sendOutput(output: LogUpload): void;
  /** Whether a newer goal state may replace one whose steps can still run; true by default. */
  mayReplaceGoal?(): boolean;
  /** Called when nothing is left to do. */
  onRest?(): void;
  restart: PendingRestart;
  /** Makes the lane look for work again. */
  wake(): void;
}
