'use client';

import { Timer } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { Countdown, DateTime, Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import { runningAttempt } from '../due-lines.ts';
import type { ShownFailure, ShownRun } from '../unit-data.ts';
import { HookFor } from './hook-for.tsx';
import type { UnitWhyProps } from './unit-why-props.ts';

interface Step {
  key: string;
  /** Null for a countdown. */
  status: StatusName | null;
  title: ReactNode;
  detail: ReactNode;
}

/** The steps that lead to the current state, from the last call of the agent to the next attempt. */
export function WhyChain(props: UnitWhyProps) {
  const steps = [...useAgentSteps(props), ...useHookSteps(props)];
  if (steps.length < 2) return <div className="h-3" />;
  return (
    <ol className="my-4 grid auto-cols-fr grid-flow-col @max-3xl:mt-3.5 @max-3xl:mb-1 @max-3xl:grid-flow-row">
      {steps.map((step, index) => (
        <ChainStep key={step.key} step={step} last={index === steps.length - 1} />
      ))}
    </ol>
  );
}

function useAgentSteps({ unit, machine, why }: UnitWhyProps): Step[] {
  const { t } = useTranslation('services');
  const lastSeenAt = machine?.agent.lastSeenAt ?? null;
  if (lastSeenAt === null) return [];
  const isSilent = why.kind === 'silent';
  const heard: Step = {
    key: 'agent',
    status: isSilent ? 'unresponsive' : 'healthy',
    title: t(isSilent ? 'unit.step.silent' : 'unit.step.heard'),
    detail: <RelativeTime value={new Date(lastSeenAt)} />,
  };
  if (unit.agentSince === null) return [heard];
  const looks: Step = {
    key: 'looks',
    status: 'healthy',
    title: t('unit.step.looks'),
    detail: <DateTime value={new Date(unit.agentSince)} />,
  };
  return [heard, looks];
}

function useHookSteps({ unit, why, lines }: UnitWhyProps): Step[] {
  const { t } = useTranslation('services');
  const waits = lines.filter(({ state }) => state.kind === 'after' || state.kind === 'turn');
  const [first] = waits;
  const rest: Step = {
    key: 'rest',
    status: 'waiting',
    title: t('unit.step.wait', { count: waits.length }),
    detail: first === undefined ? null : <HookFor hook={first.due.hook} remoteUnit={first.due.remoteUnit} />,
  };
  const others = waits.length > 0 ? [rest] : [];
  const end = why.kind === 'failing' ? why.failure.nextAttemptBefore : null;
  const isOver = useTicking((now) => (end !== null && Date.parse(end) <= now ? 'over' : '')) !== '';
  if (why.kind === 'failing') {
    const attempt = runningAttempt(lines, why.failure);
    const next = attempt === undefined ? nextStep(t, why.failure, isOver) : [runStep(t, attempt)];
    return [failedStep(t, why.failure), ...others, ...next];
  }
  if (why.kind === 'running') return [runStep(t, why.run), ...others];
  return why.kind === 'waiting' || why.kind === 'silent' || unit.cause === 'late' ? others : [];
}

type Say = ReturnType<typeof useTranslation<'services'>>['t'];

const runStep = (t: Say, { hook, begunAt }: ShownRun): Step => ({
  ...{ key: 'run', status: 'progressing', title: t('unit.step.running', { hook }) },
  detail: <Elapsed value={new Date(begunAt)} />,
});

function failedStep(t: Say, { hook, exitCode, outcome, failures, failedAt }: ShownFailure): Step {
  const how =
    outcome === 'failed' && exitCode !== null
      ? t('unit.outcome.exit', { code: exitCode })
      : t(`unit.outcome.${outcome}`);
  return {
    key: 'failed',
    status: 'failed',
    title: t('unit.step.failed', { hook }),
    detail: (
      <>
        {t('unit.step.attempt', { how, n: failures })}
        {failedAt === null ? null : (
          <>
            {', '}
            <DateTime value={new Date(failedAt)} style="time" />
          </>
        )}
      </>
    ),
  };
}

function nextStep(t: Say, { nextAttemptBefore, resolution, failures }: ShownFailure, isOver: boolean): Step[] {
  if (resolution !== null) {
    const detail = t('unit.step.resolution.when');
    return [{ key: 'next', status: 'progressing', title: t(`unit.step.resolution.${resolution}`), detail }];
  }
  if (nextAttemptBefore === null) return [];
  if (isOver) {
    const detail = t('unit.step.soon.why', { n: failures + 1 });
    return [{ key: 'next', status: 'waiting', title: t('unit.step.soon'), detail }];
  }
  const at = new Date(nextAttemptBefore);
  return [
    { key: 'next', status: null, title: <Countdown value={at} />, detail: t('unit.step.next', { n: failures + 1 }) },
  ];
}

/** The line to the next step is dashed after a step that does not work. The chain is vertical if the card is narrow. */
function ChainStep({ step: { status, title, detail }, last }: { step: Step; last: boolean }) {
  return (
    <li className="min-w-0 @max-3xl:grid @max-3xl:grid-cols-[18px_minmax(0,1fr)] @max-3xl:gap-x-3 @3xl:pe-4">
      <span className="flex items-center @max-3xl:row-span-2 @max-3xl:flex-col @max-3xl:pt-px @3xl:mb-[5px] @3xl:h-5">
        {status === null ? (
          <Timer aria-hidden className="size-[18px] shrink-0 text-progressing-text" />
        ) : (
          <StatusIcon status={status} className="size-[18px]" />
        )}
        {last ? null : (
          <span
            aria-hidden
            className={cn(
              'flex-1 @max-3xl:my-1 @max-3xl:border-s-[1.5px] @3xl:ms-2 @3xl:-me-2 @3xl:border-t-[1.5px]',
              status === 'healthy' ? 'border-line' : 'border-dashed border-line-control',
            )}
          />
        )}
      </span>
      <span
        className={cn(
          'block wrap-anywhere',
          status === null ? 'text-20 font-semibold tracking-tight tabular-nums' : 'font-medium',
        )}
      >
        {title}
      </span>
      <span className="block text-12 text-pretty wrap-anywhere text-ink-2 tabular-nums @max-3xl:col-start-2 @max-3xl:pb-3.5">
        {detail}
      </span>
    </li>
  );
}
