'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { type Format, useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { PlanView } from '#server/domain/rollouts/index.ts';
import { useRefusedWords } from './use-refused-words.ts';

export interface PlanNotesProps {
  plan: PlanView;
  /** Ids of the open rollouts that this rollout may take VMs from. */
  accepted: readonly string[];
  onAccept(ids: readonly string[]): void;
}

/** What to know before the start: VMs that are left out, and what cannot be undone or overlaps. */
export function PlanNotes({ plan, accepted, onAccept }: PlanNotesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const silent = plan.rings.reduce((sum, ring) => sum + ring.silent, 0);
  const restarts = plan.rings.reduce((sum, ring) => sum + ring.restarts, 0);
  const notRevertible = Object.values(plan.notRevertible).reduce((sum, count) => sum + count, 0);
  const note = (key: 'silent' | 'restarts' | 'notRevertible' | 'unchecked' | 'unchanged', count: number) =>
    t(`new.note.${key}`, { count, n: format.number(count) });
  return (
    <div className="grid gap-x-8 gap-y-2.5 md:grid-cols-2">
      <Refused plan={plan} />
      {/* Runs can never be reverted, so this says nothing about these VMs. */}
      {notRevertible === 0 || plan.kinds.run !== undefined ? null : (
        <Note status="warning">{note('notRevertible', notRevertible)}</Note>
      )}
      {silent === 0 ? null : <Note status="unresponsive">{note('silent', silent)}</Note>}
      {restarts === 0 ? null : <Note status="warning">{note('restarts', restarts)}</Note>}
      {plan.uncheckedSettings === 0 ? null : <Note status="unknown">{note('unchecked', plan.uncheckedSettings)}</Note>}
      {plan.unchanged === 0 ? null : <Note status="healthy">{note('unchanged', plan.unchanged)}</Note>}
      <End plan={plan} format={format} />
      <Overlaps plan={plan} accepted={accepted} onAccept={onAccept} />
    </div>
  );
}

export function Note({ status, children }: { status: StatusName; children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-2.5" data-st={status}>
      <StatusIcon status={status} className="mt-[3px] shrink-0 text-st-text" />
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

/** VMs that the change cannot reach, by reason, with examples. */
function Refused({ plan }: { plan: PlanView }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const words = useRefusedWords();
  return Object.entries(plan.refused).map(([code, { count, examples }]) => (
    <Note key={code} status="warning">
      <strong className="font-semibold">{t('new.note.refused', { count, n: format.number(count) })}</strong>{' '}
      {words(code)}{' '}
      <span className="text-ink-2">
        {examples.slice(0, 3).map(({ vmId, name }, index) => (
          <span key={vmId}>
            {index === 0 ? '' : ', '}
            <TextLink href={`/vms/${vmId}`} translate="no">
              {name}
            </TextLink>
          </span>
        ))}
        {count > 3 ? ', …' : ''}
      </span>
    </Note>
  ));
}

function End({ plan, format }: { plan: PlanView; format: Format }) {
  const { t } = useTranslation('rollouts');
  const { earliestEnd, likelyEnd } = plan;
  if (earliestEnd === null || plan.members === 0) return null;
  const earliest = format.dateTime(new Date(earliestEnd), 'short');
  return (
    <Note status="waiting">
      {likelyEnd === null
        ? t('new.note.end', { earliest })
        : t('new.note.endLikely', { earliest, likely: format.dateTime(new Date(likelyEnd), 'short') })}
    </Note>
  );
}

/** Open rollouts that change the same extension. Each must be accepted before the start. */
export function Overlaps({ plan, accepted, onAccept }: PlanNotesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return plan.overlaps.map(({ id, name, members }) => (
    <div key={id} className="rounded-md bg-sunken p-2.5 shadow-hair-subtle md:col-span-full">
      <ControlRow
        control={
          <Checkbox
            checked={accepted.includes(id)}
            onCheckedChange={(checked) =>
              onAccept(checked === true ? [...accepted, id] : accepted.filter((other) => other !== id))
            }
          />
        }
        hint={t('new.overlap.why')}
      >
        {t('new.overlap', { count: members, n: format.number(members), name })}
      </ControlRow>
      <TextLink href={`/rollouts/${id}`} className="ms-6 text-12">
        {t('new.overlap.open')}
      </TextLink>
    </div>
  ));
}
