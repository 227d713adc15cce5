import type { ExtensionHealth, HeartbeatVerdict } from '#server/domain/verdicts/words.ts';
import type { StatusName } from '../_ui/status-icon.tsx';

/** The icon of each health state. The label of a state is `reports:health.<health>`. */
export const statusOfHealth = {
  healthy: 'healthy',
  progressing: 'progressing',
  degraded: 'warning',
  failed: 'failed',
  unresponsive: 'unresponsive',
  unknown: 'unknown',
  disabled: 'disabled',
} as const satisfies Readonly<Record<ExtensionHealth, StatusName>>;

/** The icon of each heartbeat verdict. */
export const statusOfVerdict = {
  ready: 'healthy',
  notready: 'warning',
  unknown: 'unknown',
  unresponsive: 'unresponsive',
} as const satisfies Readonly<Record<Exclude<HeartbeatVerdict, 'none'>, StatusName>>;
