'use client';

import { Rocket } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { PlanView, RolloutView } from '#server/domain/rollouts/index.ts';
import { type EditorPart, partOf } from './faults.ts';
import { InFoot } from './in-foot.tsx';
import { partId } from './part-card.tsx';
import type { PlanHold } from './plan-hold.ts';
import type { MissingPart } from './rollout-form.ts';
import type { PlannedDraft } from './use-draft-plan.ts';
import type { Starting } from './use-start.ts';

const ConfirmDialog = dynamic(() => import('#app/_ui/confirm-dialog.tsx').then((module) => module.ConfirmDialog), {
  ssr: false,
});

export interface RolloutFootProps {
  draft: PlannedDraft;
  starting: Starting;
  missing: MissingPart;
  accepted: readonly string[];
  hold: PlanHold;
  /** Whether the definition is edited as JSON, and not in the parts of the form. */
  isJson: boolean;
  /** Called before the page leads to a fault. */
  onInsist(): void;
}

/** The first thing that keeps the rollout from starting; null if nothing does. */
export type Obstacle =
  | { code: NonNullable<MissingPart>; part: EditorPart }
  | { code: 'fault'; part: EditorPart; message: string }
  | {
      code: 'held' | 'planning' | 'problem' | 'empty' | 'unmatched' | 'refused' | 'overlap' | 'moved';
      part: EditorPart;
    };

export function obstacleOf({
  draft,
  missing,
  accepted,
  hold,
}: Omit<RolloutFootProps, 'starting' | 'isJson' | 'onInsist'>): Obstacle | null {
  if (missing !== null) return { code: missing, part: missing === 'target' ? 'who' : 'what' };
  if (hold.isHeld) return { code: 'held', part: 'plan' };
  const { problem, plan, rollout } = draft;
  const [fault] = problem?.faults ?? [];
  if (fault !== undefined) return { code: 'fault', part: partOf(fault.path), message: fault.message };
  if (problem !== null) return { code: 'problem', part: 'plan' };
  if (rollout?.why.some(({ code }) => code === 'plan_failed')) return { code: 'problem', part: 'plan' };
  if (!draft.settled || plan === null) return { code: 'planning', part: 'plan' };
  if (plan.members === 0 && rollout?.definition.newcomers !== 'include') return emptyOf(plan);
  if (rollout?.why.some(({ code }) => code === 'plan_moved_on')) return { code: 'moved', part: 'plan' };
  return plan.overlaps.some(({ id }) => !accepted.includes(id)) ? { code: 'overlap', part: 'plan' } : null;
}

/** Why a plan has no members. */
function emptyOf({ matched, refused }: PlanView): Obstacle {
  if (matched === 0) return { code: 'unmatched', part: 'who' };
  return { code: Object.keys(refused).length > 0 ? 'refused' : 'empty', part: 'plan' };
}

/** The bar at the bottom: what is missing or what would happen, and the buttons. */
export function Foot({ draft, starting, missing, accepted, hold, isJson, onInsist }: RolloutFootProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const obstacle = obstacleOf({ draft, missing, accepted, hold });
  const { plan, rollout } = draft;
  const number = plan === null ? '' : format.number(plan.members);
  const needed = rollout?.approvalsNeeded ?? 0;
  return (
    <InFoot>
      {rollout === null ? null : <DeleteDraft rollout={rollout} />}
      {starting.problem !== null ? (
        <span className="flex min-w-0 items-center gap-2 text-failed-text" role="alert">
          <StatusIcon status="failed" />
          {starting.problem.message}
        </span>
      ) : obstacle !== null ? (
        <ObstacleLink
          obstacle={isJson && obstacle.part !== 'plan' ? { ...obstacle, part: 'json' } : obstacle}
          onInsist={onInsist}
        />
      ) : (
        <span className="flex min-w-0 items-center gap-2 text-ink-2 max-sm:hidden">
          <StatusIcon status="healthy" />
          {t(needed > 0 ? 'new.foot.approval' : 'new.foot.ready', {
            count: needed > 0 ? needed : (plan?.rings.length ?? 0),
            n: number,
          })}
        </span>
      )}
      <span className="ms-auto flex flex-wrap items-center gap-2 max-sm:w-full">
        {obstacle === null && needed > 0 && rollout !== null ? (
          <Button asChild variant="primary" className="max-sm:w-full">
            <Link href={`/rollouts/${rollout.id}`}>{t('new.foot.ask')}</Link>
          </Button>
        ) : obstacle?.code === 'held' ? (
          <Button variant="primary" className="max-sm:w-full" onClick={hold.release}>
            {t('new.plan.makeOn', { count: hold.matching, n: format.number(hold.matching) })}
          </Button>
        ) : (
          <Button
            variant="primary"
            className="max-sm:w-full"
            aria-disabled={obstacle !== null || undefined}
            busy={starting.busy}
            onClick={() => {
              if (obstacle === null && plan !== null && rollout !== null) void starting.start(rollout, plan, accepted);
            }}
          >
            <Rocket aria-hidden />
            {plan === null || plan.members === 0
              ? t('new.foot.start')
              : t('new.foot.startOn', { count: plan.members, n: number })}
          </Button>
        )}
      </span>
    </InFoot>
  );
}

/** Says what is missing, and leads there. */
function ObstacleLink({ obstacle, onInsist }: { obstacle: Obstacle; onInsist(): void }) {
  const { t } = useTranslation('rollouts');
  const text = obstacle.code === 'fault' ? obstacle.message : t(`new.missing.${obstacle.code}`);
  if (obstacle.code === 'planning' || obstacle.code === 'held') return <span className="text-ink-2">{text}</span>;
  const go = () => {
    // The fault is in the page before its field is looked for.
    flushSync(onInsist);
    const part = document.getElementById(partId(obstacle.part));
    part?.scrollIntoView({ block: 'start' });
    const field = part?.querySelector<HTMLElement>('[aria-invalid="true"], [contenteditable], input, select, button');
    (field ?? part)?.focus({ preventScroll: true });
  };
  return (
    <button
      type="button"
      onClick={go}
      className="min-w-0 rounded-sm text-start font-medium underline underline-offset-3"
    >
      {text}
    </button>
  );
}

function DeleteDraft({ rollout }: { rollout: RolloutView }) {
  const { t } = useTranslation('rollouts');
  const client = useTRPCClient();
  const router = useRouter();
  const explain = useProblem();
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<string>();
  const remove = async () => {
    try {
      await client.rollouts.remove.mutate({ id: rollout.id });
      router.push('/rollouts');
    } catch (thrown) {
      setError(explain(thrown).message);
      throw thrown;
    }
  };
  return (
    <>
      <Button variant="ghost" onClick={() => setOpen(true)}>
        {t('new.delete')}
      </Button>
      {isOpen ? (
        <ConfirmDialog
          open
          onOpenChange={setOpen}
          title={t('new.delete.title', { name: rollout.name })}
          description={t('new.delete.why')}
          confirmLabel={t('new.delete')}
          onConfirm={remove}
          error={error}
        />
      ) : null}
    </>
  );
}
