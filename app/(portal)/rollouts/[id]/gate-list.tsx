'use client';

import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import type { ShownRing, ShownVerdict } from '../rollout-data.ts';
import { useVerdictWords } from './use-verdict-words.ts';

const statusOf: Readonly<Record<ShownVerdict['verdict'], StatusName>> = {
  pass: 'healthy',
  wait: 'waiting',
  halt: 'failed',
};

/** The gates of a ring as a checklist. A ring whose gates are met shows its bake instead; its gates can be expanded. */
export function GateList({ ring }: { ring: ShownRing }) {
  const { t } = useTranslation('rollouts');
  const { state, verdicts } = ring;
  const isMet = (state === 'passed' || state === 'baking') && verdicts.every(({ verdict }) => verdict === 'pass');
  if (!isMet || verdicts.length === 0) return <Gates ring={ring} />;
  return (
    <>
      {state === 'baking' ? (
        <ul className="mt-2">
          <Bake ring={ring} />
        </ul>
      ) : null}
      <details className="group/met mt-1.5">
        <summary className="inline-flex cursor-pointer list-none items-center gap-1 rounded-xs text-12 text-ink-3 hover:text-ink focus-visible:shadow-focus pointer-coarse:min-h-(--touch)">
          {t('live.gates.met', { count: verdicts.length })}
          <ChevronRight
            aria-hidden
            className="size-3.5 transition-transform duration-(--d-1) group-open/met:rotate-90 rtl:-scale-x-100"
          />
        </summary>
        <Gates ring={ring} />
      </details>
    </>
  );
}

/** Each gate can be expanded to show its calculation. */
function Gates({ ring }: { ring: ShownRing }) {
  const { t } = useTranslation('rollouts');
  const says = useVerdictWords();
  return (
    <ul aria-label={t('live.gates', { ring: ring.name })} className="mt-2">
      {ring.verdicts.map((verdict) => (
        <li key={verdict.gate} className="border-t border-line-subtle">
          <details className="group" open={verdict.verdict === 'halt'}>
            <summary className="flex cursor-pointer list-none items-start gap-2 py-1.5 focus-visible:shadow-focus pointer-coarse:min-h-(--touch)">
              <GateRow
                status={statusOf[verdict.verdict]}
                name={t(`gate.${verdict.gate}`)}
                word={t(`gate.verdict.${verdict.verdict}`)}
              >
                {says(verdict)}
              </GateRow>
              <ChevronRight
                aria-hidden
                className="mt-0.5 size-4 shrink-0 text-ink-3 transition-transform duration-(--d-1) group-open:rotate-90 rtl:-scale-x-100"
              />
            </summary>
            <Arithmetic verdict={verdict} />
          </details>
        </li>
      ))}
      {ring.state === 'baking' ? null : <Bake ring={ring} />}
    </ul>
  );
}

function GateRow({
  status,
  name,
  word,
  children,
}: {
  status: StatusName;
  name: string;
  word: string;
  children: ReactNode;
}) {
  return (
    <>
      <StatusIcon status={status} className="mt-[3px]" />
      <span className="min-w-0 flex-1 text-ink-2 wrap-anywhere">
        <b className="font-medium text-ink">{name}</b> {children}
      </span>
      <span data-st={status} className="text-12 text-st-text">
        {word}
      </span>
    </>
  );
}

/** The numbers of a verdict and the quotient that the gate compares. */
function Arithmetic({ verdict: { gate, params } }: { verdict: ShownVerdict }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const number = (name: string) => Number(params[name] ?? 0);
  const shown = (name: string) => format.number(number(name));
  const share = (part: string, whole: string) =>
    format.number(number(whole) === 0 ? 0 : number(part) / number(whole), {
      style: 'percent',
      maximumFractionDigits: 2,
    });
  const sums = {
    errors: () =>
      t('gate.sum.errors', { failed: shown('failed'), decided: shown('decided'), share: share('failed', 'decided') }),
    success: () =>
      t('gate.sum.success', {
        succeeded: shown('succeeded'),
        members: shown('members'),
        share: share('succeeded', 'members'),
      }),
    compare: () =>
      t('gate.sum.compare', {
        changedFirst: shown('changedFirst'),
        controlFirst: shown('controlFirst'),
        pairs: shown('pairs'),
      }),
  };
  return (
    <div className="ms-5.5 mb-2 rounded-md bg-sunken px-3 py-2 text-12">
      <p className="font-medium tabular-nums">{sums[gate]()}</p>
      <p className="text-ink-3">{t(`gate.sum.${gate}Note`, { needed: shown('needed') })}</p>
    </div>
  );
}

function Bake({ ring: { bakeSeconds, metAt, state } }: { ring: ShownRing }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  if (bakeSeconds === 0) return null;
  const end = metAt === null ? null : new Date(Date.parse(metAt) + bakeSeconds * 1_000);
  const isOver = state === 'passed';
  return (
    <li className="flex items-start gap-2 border-t border-line-subtle py-1.5 pe-6">
      <GateRow
        status={isOver ? 'healthy' : 'waiting'}
        name={t('gate.bake')}
        word={t(isOver ? 'gate.verdict.pass' : end === null ? 'gate.bake.notStarted' : 'ringState.baking')}
      >
        {end === null
          ? t('gate.bake.not', { min: format.number(Math.round(bakeSeconds / 60)) })
          : t('gate.bake.until', { at: format.dateTime(end, 'short') })}
      </GateRow>
    </li>
  );
}
