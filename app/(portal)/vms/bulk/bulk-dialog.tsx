'use client';

import { Rocket } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { faultsOf } from '../../rollouts/new/faults.ts';
import { MovedCard } from '../../rollouts/new/moved-card.tsx';
import { type ChangeForm, emptyChange } from '../../rollouts/new/rollout-form.ts';
import { type PlannedDraft, useDraftPlan } from '../../rollouts/new/use-draft-plan.ts';
import { useStart } from '../../rollouts/new/use-start.ts';
import { ChangeFields } from '../../rollouts/new/what-card.tsx';
import { type BulkAct, bulkDefinition, changeOfAct, ringsFrom } from './bulk-acts.ts';
import { BulkPlan } from './bulk-plan.tsx';

export interface BulkDialogProps {
  act: BulkAct;
  filter: FleetFilter;
  total: number;
  onClose(): void;
}

/** An act on all VMs that match a filter. The dialog shows its plan, and the button starts exactly that. */
export function BulkDialog({ act, filter, total, onClose }: BulkDialogProps) {
  const { t } = useTranslation('rollouts');
  const [change, setChange] = useState<ChangeForm>(() =>
    changeOfAct(act, { ...emptyChange, handler: filter.handler ?? '' }),
  );
  const subject =
    act === 'run'
      ? change.run.runbook
      : change.extension.trim() || change.handler.slice(change.handler.lastIndexOf('.') + 1);
  const name = t(`bulk.name.${act}`, { subject });
  const definition = useMemo(() => bulkDefinition(filter, change, name), [filter, change, name]);
  const draft = useDraftPlan(definition);
  const [accepted, setAccepted] = useState<readonly string[]>([]);
  const faults = useMemo(() => faultsOf(draft.problem?.faults ?? []), [draft.problem]);
  const other = faults.all.filter(({ path }) => !path.startsWith('/change'));
  const keepDraft = useDraftRemoval(draft);
  const format = useFormat();
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title={subject === '' ? t(`bulk.act.${act}`) : t(`bulk.title.${act}`, { subject })}
      description={t('bulk.from', { count: total, n: format.number(total) })}
      footer={<BulkFooter {...{ act, draft, subject, accepted, keepDraft, onClose }} />}
    >
      <ChangeFields change={change} onChange={setChange} faults={faults} loaded={null} isSimple={act !== 'set'} />
      {draft.rollout === null ? null : <MovedCard rollout={draft.rollout} onAgain={draft.again} />}
      {definition === null ? null : <BulkPlan draft={draft} accepted={accepted} onAccept={setAccepted} />}
      {draft.problem !== null && draft.problem.faults.length === 0 ? (
        <FieldError>{draft.problem.message}</FieldError>
      ) : null}
      {other.map((fault) => (
        <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
      ))}
    </Dialog>
  );
}

/** Deletes the draft when the dialog closes, unless it was started or is edited further. Returns what keeps it. */
function useDraftRemoval({ rollout }: PlannedDraft): () => void {
  const client = useTRPCClient();
  const latest = useRef<string | undefined>(undefined);
  const isKept = useRef(false);
  useEffect(() => {
    latest.current = rollout?.id;
  });
  useEffect(
    () => () => {
      const id = latest.current;
      if (id !== undefined && !isKept.current) void client.rollouts.remove.mutate({ id }).catch(() => {});
    },
    [client],
  );
  return () => {
    isKept.current = true;
  };
}

interface BulkFooterProps {
  act: BulkAct;
  draft: PlannedDraft;
  subject: string;
  accepted: readonly string[];
  keepDraft(): void;
  onClose(): void;
}

function BulkFooter({ act, draft, subject, accepted, keepDraft, onClose }: BulkFooterProps) {
  const { t } = useTranslation(['rollouts', 'common']);
  const format = useFormat();
  const router = useRouter();
  const starting = useStart(draft.take);
  const { plan, rollout, settled } = draft;
  const members = plan?.members ?? 0;
  const needsApproval = (rollout?.approvalsNeeded ?? 0) > 0;
  const isOpen = plan?.overlaps.some(({ id }) => !accepted.includes(id)) ?? true;
  const isReady = settled && members > 0 && !isOpen && rollout?.state === 'planned';
  const start = async () => {
    if (rollout === null || plan === null || !isReady) return;
    if (needsApproval) {
      keepDraft();
      router.push(`/rollouts/${rollout.id}`);
    } else if (await starting.start(rollout, plan, accepted)) {
      keepDraft();
      toast(t('rollouts:bulk.started', { count: members, n: format.number(members) }));
      onClose();
    }
  };
  const inRings = () => {
    keepDraft();
    router.push(`/rollouts/${rollout?.id}/edit`);
  };
  const words = { count: members, n: format.number(members), subject };
  return (
    <>
      {starting.problem === null ? null : (
        <div className="w-full">
          <FieldError>{starting.problem.message}</FieldError>
        </div>
      )}
      {members < ringsFrom || rollout === null ? null : (
        <Button variant="ghost" className="me-auto" onClick={inRings}>
          <Rocket aria-hidden />
          {t('rollouts:bulk.inRings')}
        </Button>
      )}
      <Button onClick={onClose}>{t('common:cancel')}</Button>
      <Button
        variant={act === 'remove' ? 'danger-solid' : 'primary'}
        aria-disabled={!isReady || undefined}
        busy={starting.busy}
        onClick={() => void start()}
      >
        {needsApproval
          ? t('rollouts:new.foot.ask')
          : plan === null || members === 0
            ? t(`rollouts:bulk.act.${act}`)
            : t(`rollouts:bulk.start.${act}`, words)}
      </Button>
    </>
  );
}
