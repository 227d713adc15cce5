'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useCause } from '#app/(portal)/(overview)/use-cause.ts';
import type { HealthCause } from '#server/domain/verdicts/words.ts';
import type { ShownUnit } from './service-data.ts';

/** The causes that a hook’s own message explains. */
const ofHook: ReadonlySet<HealthCause> = new Set(['exit', 'timeout', 'command', 'retry']);

/** Returns a function that says why a unit is not healthy, in one sentence; null if there is nothing to say. */
export function useUnitReason(): (unit: Pick<ShownUnit, 'health' | 'cause' | 'hook' | 'failing'>) => string | null {
  const { t } = useTranslation('services');
  const say = useCause();
  return ({ health, cause, hook, failing }) => {
    // The table shows which hook the unit waits for.
    if (cause === 'waiting') return null;
    if (cause === null) return health === 'unknown' ? t('units.notEnrolled') : null;
    const own = failing.find((failure) => failure.hook === hook) ?? failing[0];
    const words = say({
      cause,
      command: hook,
      exitCode: own?.exitCode ?? null,
      messageId: null,
      waitsFor: null,
    });
    return own?.reason && ofHook.has(cause) ? `${words}: ${own.reason.text}` : words;
  };
}
