'use client';

import { RefreshCw } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { PartCard } from './part-card.tsx';
import type { PlanHold } from './plan-hold.ts';
import { PlanNotes } from './plan-notes.tsx';
import { PlanTable } from './plan-table.tsx';
import type { PlannedDraft } from './use-draft-plan.ts';

export interface RolloutPlanProps {
  draft: PlannedDraft;
  /** Whether the form is complete enough to plan. */
  isReady: boolean;
  /** Whether planning waits for a request, because there are too many VMs. */
  hold: PlanHold;
  accepted: readonly string[];
  onAccept(ids: readonly string[]): void;
}

/** The plan: what would happen to how many VMs, ring by ring, then what to know before the start. */
export function PlanCard({ draft, isReady, hold, accepted, onAccept }: RolloutPlanProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { plan, rollout, phase, problem, settled } = draft;
  const isFaulty = problem !== null && problem.faults.length > 0;
  return (
    <PartCard
      part="plan"
      title={t('new.plan')}
      note={
        plan === null ? undefined : (
          <>
            <span translate="no" className="mono">
              {plan.hash.slice(0, 8)}
            </span>{' '}
            <RelativeTime value={new Date(plan.at)} />
          </>
        )
      }
      actions={
        isReady ? (
          <Button size="sm" busy={phase !== 'idle'} onClick={hold.isHeld ? hold.release : draft.again}>
            <RefreshCw aria-hidden />
            {hold.isHeld
              ? t('new.plan.makeOn', { count: hold.matching, n: format.number(hold.matching) })
              : t('new.plan.again')}
          </Button>
        ) : undefined
      }
    >
      <p role="status" className={cn(phase === 'idle' ? 'sr-only' : 'text-12 text-ink-3')}>
        {phase === 'idle' ? (settled ? t('new.plan.ready') : '') : t('new.plan.working')}
      </p>
      {isFaulty && isReady ? (
        <Banner status="failed" boxed>
          {t('new.plan.faults', { count: problem.faults.length })}
        </Banner>
      ) : problem !== null && !isFaulty ? (
        <PlanProblem draft={draft} />
      ) : null}
      {plan === null && !isReady ? <p className="text-ink-2">{t('new.plan.empty')}</p> : null}
      {plan === null && isReady && problem === null && rollout?.why.some(({ code }) => code === 'plan_failed') ? (
        <Banner status="failed" boxed>
          {t('new.plan.failed')}
        </Banner>
      ) : plan === null && hold.isHeld ? (
        <p className="text-ink-2">{t('new.plan.many', { n: format.number(hold.matching) })}</p>
      ) : plan === null && isReady && problem === null ? (
        <SkeletonRows columns={['w-24', 'w-16', 'w-16', 'w-16']} rows={4} label={t('new.plan.working')} />
      ) : null}
      {plan === null || rollout === null ? null : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3.5" aria-busy={!settled}>
          {settled || phase !== 'idle' ? null : <p className="text-ink-2">{t('new.plan.earlier')}</p>}
          <PlanTable plan={plan} rolloutId={rollout.id} />
          <PlanNotes plan={plan} accepted={accepted} onAccept={onAccept} />
        </div>
      )}
    </PartCard>
  );
}

function PlanProblem({ draft }: { draft: PlannedDraft }) {
  const { t } = useTranslation('rollouts');
  const { problem } = draft;
  if (problem?.code === 'rollout_moved_on') {
    return (
      <Banner
        status="warning"
        boxed
        actions={
          <Button size="sm" onClick={() => window.location.reload()}>
            {t('new.reload')}
          </Button>
        }
      >
        {t('new.movedOn')}
      </Banner>
    );
  }
  return problem === null ? null : (
    <Banner
      status="failed"
      boxed
      actions={
        <Button size="sm" onClick={draft.again}>
          {t('new.plan.again')}
        </Button>
      }
    >
      {problem.message}
    </Banner>
  );
}
