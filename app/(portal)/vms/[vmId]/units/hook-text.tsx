'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import { Countdown } from '#app/_ui/time.tsx';
import { unitHref } from '#app/(portal)/models/[model]/services/service-data.ts';
import type { HookEntry } from './hook-entries.ts';

/** The unit of a hook, as a link to its page. */
export function HookUnit({ hook: { model, unit } }: { hook: HookEntry }) {
  return (
    <TextLink href={unitHref(model, unit)} prefetch={false} translate="no" className="font-medium wrap-anywhere">
      {unit}
    </TextLink>
  );
}

/** The name of a hook, and the unit that it is for. */
export function HookText({ hook: { hook, remoteUnit } }: { hook: HookEntry }) {
  const { t } = useTranslation('reports');
  if (remoteUnit === null) return <span translate="no">{hook}</span>;
  return (
    <Trans
      text={t('queue.hook.for', { hook, unit: remoteUnit })}
      tags={{ hook: <span translate="no" />, unit: <span translate="no" /> }}
    />
  );
}

/** What a hook waits for; nothing if it runs in its turn. */
export function HookWaits({ hook: { waits } }: { hook: HookEntry }) {
  const { t } = useTranslation('reports');
  const until = waits?.until ?? null;
  const isOver = useTicking((now) => (until !== null && Date.parse(until) <= now ? 'over' : '')) !== '';
  if (waits === null) return null;
  if (until === null || isOver) return waits.text;
  return (
    <Trans
      text={t('queue.hook.retryWithin')}
      tags={{ time: <Countdown value={new Date(until)} className="tabular-nums" /> }}
    />
  );
}
