'use client';

import { CircleX, Equal, Gauge } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { PlanView, RolloutView } from '#server/domain/rollouts/index.ts';
import { Note, Overlaps } from '../../rollouts/new/plan-notes.tsx';
import type { PlannedDraft } from '../../rollouts/new/use-draft-plan.ts';
import { useRefusedWords } from '../../rollouts/new/use-refused-words.ts';

const PlanVms = dynamic(() => import('../../rollouts/new/plan-vms.tsx').then((module) => module.PlanVms), {
  ssr: false,
});

export interface BulkPlanProps {
  draft: PlannedDraft;
  accepted: readonly string[];
  onAccept(ids: readonly string[]): void;
}

/** The plan of an act: how many VMs change, how many are so already, and how many cannot change. */
export function BulkPlan({ draft, accepted, onAccept }: BulkPlanProps) {
  const { t } = useTranslation('rollouts');
  const { plan, rollout, phase, settled, problem } = draft;
  if (plan === null || rollout === null) {
    if (problem !== null) return null;
    return <SkeletonRows columns={['w-12', 'w-48']} rows={3} label={t('new.plan.working')} />;
  }
  const silent = plan.rings.reduce((sum, ring) => sum + ring.silent, 0);
  return (
    <div aria-busy={!settled} className={cn('grid gap-3', settled ? undefined : 'opacity-60')}>
      <p role="status" className="sr-only">
        {phase === 'idle' ? t('new.plan.ready') : t('new.plan.working')}
      </p>
      <Lines plan={plan} rollout={rollout} />
      <Overlaps plan={plan} accepted={accepted} onAccept={onAccept} />
      <Terms plan={plan} silent={silent} />
    </div>
  );
}

function Lines({ plan, rollout }: { plan: PlanView; rollout: RolloutView }) {
  const { t } = useTranslation('rollouts');
  const words = useRefusedWords();
  const isRun = rollout.change.kind === 'run';
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ul className="divide-y divide-line-subtle rounded-md shadow-hair">
        <Line count={plan.members} icon={<StatusIcon status="progressing" />}>
          {t(isRun ? 'bulk.line.run' : 'bulk.line.change', { count: plan.members })}
          {plan.members === 0 ? null : (
            <button
              type="button"
              className="ms-auto text-brand-text underline underline-offset-3"
              onClick={() => setOpen(true)}
            >
              {t('bulk.show')}
            </button>
          )}
        </Line>
        {plan.unchanged === 0 ? null : (
          <Line count={plan.unchanged} icon={<Equal aria-hidden className="size-4" />}>
            {t('bulk.line.unchanged', { count: plan.unchanged })}
          </Line>
        )}
        {Object.entries(plan.refused).map(([code, { count }]) => (
          <Line key={code} count={count} icon={<StatusIcon status="warning" />}>
            {t(isRun ? 'bulk.line.cannotRun' : 'bulk.line.refused', { count, reason: words(code) })}
          </Line>
        ))}
        <Line count={plan.matched} icon={null} className="rounded-b-md bg-sunken text-ink-2">
          {t('bulk.line.matched', { count: plan.matched })}
        </Line>
      </ul>
      {isOpen ? (
        <PlanVms
          rolloutId={rollout.id}
          rings={plan.rings.map(({ name }) => name)}
          at={{ ring: null, kind: null }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

interface LineProps {
  count: number;
  icon: ReactNode;
  children: ReactNode;
  className?: string;
}

function Line({ count, icon, children, className }: LineProps) {
  const format = useFormat();
  return (
    <li className={cn('flex items-start gap-2.5 px-3 py-2', className)}>
      <strong className="min-w-12 text-end font-semibold tabular-nums">{format.number(count)}</strong>
      <span className="mt-0.5 w-4 shrink-0">{icon}</span>
      <span className="flex min-w-0 flex-1 flex-wrap gap-x-2">{children}</span>
    </li>
  );
}

/** How the act runs: its pace, when it halts, and what happens to silent VMs. */
function Terms({ plan, silent }: { plan: PlanView; silent: number }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const inFlight = plan.rings[0]?.inFlight ?? 0;
  if (plan.members === 0) return null;
  return (
    <div className="grid gap-1.5 text-ink-2">
      <div className="flex gap-2.5">
        <Gauge aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t('bulk.pace', { count: inFlight, n: format.number(inFlight) })}
      </div>
      <div className="flex gap-2.5">
        <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t('bulk.halt')}
      </div>
      {silent === 0 ? null : (
        <Note status="unresponsive">{t('bulk.silent', { count: silent, n: format.number(silent) })}</Note>
      )}
    </div>
  );
}
