import type { KeyCopies } from '../../identity/key-copies.ts';
import type { Journal } from '../../journal.ts';
import type { Portal } from '../../portal/portal.ts';
import type { LogUpload } from '../../report/log-uploads.ts';
import type { Observer } from '../../watch/observer.ts';
import type { Machine } from '../machine.ts';
import type { PendingRestart } from '../restart.ts';

/** What the runner and its command steps work with. */
export interface RunnerOptions {
  machine: Machine;
  portal: Portal;
  observer: Observer;
  keys: KeyCopies;
  journal: Journal;
  /** The agent's own environment, of which handlers see a documented part. */
  environment: Record<string, string | undefined>;
  /** What a command wrote, whole, for the portal. */
  sendOutput(output: LogUpload): void;
  /** Everything is done that can be done now. */
  onRest?(): void;
  restart: PendingRestart;
  /** Makes the lane look for work again. */
  wake(): void;
}
