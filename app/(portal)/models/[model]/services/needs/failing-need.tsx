'use client';

import { RotateCw } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { useCause } from '#app/(portal)/(overview)/use-cause.ts';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { FailingGroup } from '../failing-groups.ts';
import { serviceHref, unitHref } from '../service-data.ts';
import { NeedLine } from './need-line.tsx';
import type { NeedProps } from './need-props.ts';

/** Number of units that the line names. */
const maxNamed = 3;

export interface FailingNeedProps extends Pick<NeedProps<'failing'>, 'need' | 'model' | 'page' | 'may' | 'runAgain'> {
  /** What can be expanded below. */
  more?: ReactNode;
}

/** A hook that fails for the same reason on one or more units. */
export function FailingNeed({ need: { group }, model, page, may, runAgain, more }: FailingNeedProps) {
  const { t } = useTranslation('services');
  const { hook, units, failures, since } = group;
  const [first] = units;
  const waiting = units.filter(({ isRetried }) => !isRetried);
  const services = [...new Set(units.map(({ service }) => service))];
  return (
    <NeedLine
      status="failed"
      title={
        <Trans
          text={t('needs.failing', { hook, name: services.join(', '), count: units.length })}
          tags={{ code: <span translate="no" className="mono" /> }}
        />
      }
      why={
        <>
          <Reason group={group} />
          <Units model={model} group={group} />{' '}
          <Trans
            text={t('needs.attempts', { count: failures })}
            tags={{ when: <RelativeTime value={new Date(since)} /> }}
          />
        </>
      }
      more={more}
    >
      {!may ? null : waiting.length === 0 ? (
        <Button disabled>{t('needs.retried')}</Button>
      ) : (
        <Button busy={runAgain.isPending} onClick={() => runAgain.some(waiting)}>
          <RotateCw aria-hidden />
          {t('needs.runAgain', { count: waiting.length })}
        </Button>
      )}
      {first === undefined ? null : units.length === 1 ? (
        <Button asChild>
          <Link href={`${unitHref(model, first.unit)}?run=${first.run}`} prefetch={false}>
            {t('needs.open', { name: first.unit })}
          </Link>
        </Button>
      ) : first.service === page ? null : (
        <Button asChild>
          <Link href={serviceHref(model, first.service, 'failed')} prefetch={false}>
            {t('needs.open', { name: first.service })}
          </Link>
        </Button>
      )}
    </NeedLine>
  );
}

/** The formula's message in the reader's language; without a message, how the hook ended. */
function Reason({ group: { reason, outcome, exitCode, hook } }: { group: FailingGroup }) {
  const say = useCause();
  const cause = outcome === 'timed-out' ? 'timeout' : exitCode === null ? 'command' : 'exit';
  const ended = say({ cause, command: hook, exitCode, messageId: null, waitsFor: null });
  return (
    <p>
      {reason === null ? null : (
        <bdi lang={canonicalLanguage(reason.lang) ?? ''} className="text-ink">
          {isolateText(reason.text)}{' '}
        </bdi>
      )}
      {ended}
    </p>
  );
}

/** The units on which the hook fails, each with a link. */
function Units({ model, group: { units } }: { model: string; group: FailingGroup }) {
  const { t } = useTranslation('services');
  return (
    <>
      {units.slice(0, maxNamed).map(({ unit, remoteUnit }, index) => (
        <span key={`${unit} ${remoteUnit}`}>
          {index === 0 ? null : ', '}
          <Link
            href={unitHref(model, unit)}
            prefetch={false}
            translate="no"
            className="underline decoration-line hover:decoration-current"
          >
            {unit}
          </Link>
          {remoteUnit === null ? null : ` ${t('needs.for', { name: remoteUnit })}`}
        </span>
      ))}
      {units.length > maxNamed ? `, ${t('units.more', { count: units.length - maxNamed })}` : null}
      {'. '}
    </>
  );
}
