'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { HookName } from '../hook-name.tsx';

export interface HookForProps {
  hook: string;
  remoteUnit: string | null;
  isStrong?: boolean;
}

/** The name of a hook, and the unit that it is for. */
export function HookFor({ hook, remoteUnit, isStrong = false }: HookForProps) {
  const { t } = useTranslation('services');
  const look = isStrong ? 'font-semibold' : '';
  if (remoteUnit === null) return <HookName className={look}>{hook}</HookName>;
  return (
    <Trans
      text={t('unit.hookFor', { hook, unit: remoteUnit })}
      tags={{ hook: <HookName className={look} />, unit: <span translate="no" /> }}
    />
  );
}
