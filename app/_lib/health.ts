import type { ExtensionHealth, HeartbeatVerdict } from '#server/domain/verdicts/words.ts';
import type { StatusName } from '../_ui/status-icon.tsx';

/** How each health is drawn. Its word is `reports:health.<health>`. */
export const statusOfHealth = {
  healthy: 'healthy',
  progressing: 'progressing',
  degraded: 'warning',
  failed: 'failed',
  unresponsive: 'unresponsive',
  unknown: 'unknown',
  disabled: 'disabled',
} as const satisfies Readonly<Record<ExtensionHealth, StatusName>>;

/** How each verdict about a heartbeat is drawn. */
export const statusOfVerdict = {
  ready: 'healthy',
  notready: 'warning',
  unknown: 'unknown',
  unresponsive: 'unresponsive',
} as const satisfies Readonly<Record<Exclude<HeartbeatVerdict, 'none'>, StatusName>>;
