import type { ExtensionHealth } from '#server/domain/reports/index.ts';
import type { StatusName } from '../_ui/status-icon.tsx';

/** How each health is drawn. Its word is `reports:health.<health>`. */
export const statusOfHealth: Readonly<Record<ExtensionHealth, StatusName>> = {
  healthy: 'healthy',
  progressing: 'progressing',
  degraded: 'warning',
  failed: 'failed',
  unresponsive: 'unresponsive',
  unknown: 'unknown',
  disabled: 'disabled',
};
