'use client';

import { Zap } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Avatar } from '#app/_ui/avatar.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { unitHref } from '../../services/service-data.ts';
import { HookName } from '../hook-name.tsx';
import type { CauseOfHook, ShownRunDetails } from '../unit-data.ts';

/** The chain of causes of a run, nearest first, up to the act of an operator. */
export function Causes({
  model,
  run: { causes, remoteUnit, version, formulaVersion },
}: {
  model: string;
  run: ShownRunDetails;
}) {
  const { t } = useTranslation('services');
  const [first] = causes;
  if (first === undefined) return <p className="text-ink-2">{t('unit.because.unknown')}</p>;
  const params = { remote: remoteUnit ?? '', version: version ?? '', formula: formulaVersion };
  return (
    <>
      <p className="text-pretty">{t(`unit.because.${first.because as 'changed'}`, params)}</p>
      <ol className="mt-1 space-y-1.5">
        {causes.map((cause, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cause is identified by its place in the chain
          <CauseLine key={index} model={model} cause={cause} />
        ))}
      </ol>
    </>
  );
}

function CauseLine({ model, cause: { run, act } }: { model: string; cause: CauseOfHook }) {
  const { t } = useTranslation(['services', 'activity']);
  if (run !== undefined) {
    return (
      <li className="flex gap-2">
        <Zap aria-hidden className="mt-[3px] size-3.5 shrink-0 text-ink-3" />
        <span className="min-w-0 wrap-anywhere">
          <Trans
            text={t('services:unit.cause.run', { unit: run.unit, hook: run.hook })}
            tags={{
              unit: <TextLink href={`${unitHref(model, run.unit)}?run=${run.id}`} prefetch={false} translate="no" />,
              hook: <HookName />,
            }}
          />
        </span>
      </li>
    );
  }
  if (act === undefined) return null;
  const word = (t as unknown as (key: string) => string)(`activity:do.${act.action}`);
  return (
    <li className="flex gap-2">
      <Avatar name={act.by} className="size-4 text-[8px]" />
      <span className="min-w-0 wrap-anywhere">
        {t('services:unit.cause.act', { who: act.by, act: word })}
        <span className="block text-12 text-ink-3">
          <DateTime value={new Date(act.at)} />
        </span>
      </span>
    </li>
  );
}
