'use client';

import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import type { ListedField } from '#server/domain/fleet/index.ts';
import { canonical } from '../../vms/[vmId]/extensions/_editor/draft.ts';
import type { SentRing, SentStrategy } from './definition.ts';
import type { EditFreedom } from './edit-freedom.ts';
import type { FormFaults } from './faults.ts';
import { GateSentences } from './gate-sentences.tsx';
import { PartCard } from './part-card.tsx';
import { RingBar, shareOf } from './ring-bar.tsx';
import { RingCard } from './ring-card.tsx';
import type { RolloutForm } from './rollout-form.ts';
import type { StrategyChoice } from './strategy-choice.ts';

const SaveStrategy = dynamic(() => import('./save-strategy.tsx').then((module) => module.SaveStrategy), { ssr: false });

export interface HowCardProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  strategies: readonly StrategyChoice[];
  fields: readonly ListedField[];
  faults: FormFaults;
  /** VMs of each ring; null where only the plan knows. */
  sizes: readonly (number | null)[];
  /** What can change if the rollout has started; undefined for a draft, in which everything can. */
  freedom?: EditFreedom;
}

const builtInNames = ['careful', 'automatic', 'at-once'] as const;
type BuiltInName = (typeof builtInNames)[number];
const isBuiltInName = (name: string): name is BuiltInName => builtInNames.some((one) => one === name);

/** Faults at these paths are shown at their fields. */
const ownFields = /^\/(rings\/\d+|gates)(\/|$)/;

/** How: the strategy, the rings with their sizes, and the gates in words. */
export function HowCard({ form, set, strategies: loaded, fields, faults, sizes, freedom }: HowCardProps) {
  const { t } = useTranslation('rollouts');
  const { rings } = form;
  const [isSaving, setSaving] = useState(false);
  const [saved, setSaved] = useState<readonly StrategyChoice[]>([]);
  const strategies = withSaved(loaded, saved);
  const total = sizes.every((size) => size !== null) ? sizes.reduce((sum, size) => sum + size, 0) : null;
  const chosen = strategies.find(({ name }) => name === form.strategy);
  const isEdited = chosen !== undefined && partsAsText(form) !== partsAsText(chosen.parts);
  const choose = (name: string) => {
    const next = strategies.find((strategy) => strategy.name === name);
    if (next !== undefined) set({ strategy: name, ...next.parts });
  };
  const nameOf = (name: string) => (isBuiltInName(name) ? t(`new.strategy.${name}`) : name);
  return (
    <PartCard
      part="how"
      title={t('new.how')}
      faults={faults.all.filter(({ path }) => isElsewhere(path) && !ownFields.test(path))}
      actions={
        freedom !== undefined ? undefined : (
          <>
            <Segmented
              label={t('new.strategy')}
              className="max-w-full flex-wrap"
              value={form.strategy}
              onChange={choose}
              options={strategies.map(({ name }) => ({
                value: name,
                label:
                  name === form.strategy && isEdited ? t('new.strategy.edited', { name: nameOf(name) }) : nameOf(name),
              }))}
            />
            <Button size="sm" variant="ghost" onClick={() => setSaving(true)}>
              {t('new.strategy.save')}
            </Button>
            <Button size="sm" onClick={() => set({ rings: withRing(rings, t('new.ring.newName')) })}>
              <Plus aria-hidden />
              {t('new.ring.add')}
            </Button>
          </>
        )
      }
    >
      <RingBar rings={rings} sizes={sizes} canMove={freedom?.canMove} onChange={(next) => set({ rings: next })} />
      <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {rings.map((ring, index) => (
          <RingCard
            // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
            key={index}
            {...{ ring, index, total, fields, faults }}
            isLast={index === rings.length - 1}
            size={sizes[index] ?? null}
            isFilterFixed={freedom !== undefined}
            isReachFixed={freedom?.canMove[index] === false}
            isApprovalFixed={freedom?.canAskApproval[index] === false}
            onChange={(next) => set({ rings: rings.map((other, at) => (at === index ? next : other)) })}
            onRemove={
              rings.length > 1 && freedom === undefined ? () => set({ rings: withoutRing(rings, index) }) : undefined
            }
          />
        ))}
      </div>
      <GateSentences form={form} set={set} faults={faults} onlyLower={freedom?.isPaused === false} />
      <Rules form={form} set={set} freedom={freedom} />
      {isSaving ? (
        <SaveStrategy
          form={form}
          strategies={strategies}
          onSaved={(strategy) => {
            setSaved(withSaved(saved, [strategy]));
            set({ strategy: strategy.name });
          }}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </PartCard>
  );
}

/** Returns strategies with those that were saved since they were loaded. */
const withSaved = (loaded: readonly StrategyChoice[], saved: readonly StrategyChoice[]): StrategyChoice[] => [
  ...loaded.filter(({ name }) => !saved.some((one) => one.name === name)),
  ...saved,
];

/** Whether no other part of the page shows faults at this path. */
const isElsewhere = (path: string): boolean => !/^\/(select|name|note|change|startAt|windows)(\/|$)/.test(path);

/** Returns what a strategy decides, as text in which absent and empty parts are the same. */
function partsAsText({ rings, gates, silent, newcomers, onStepFailure, onHalt }: SentStrategy): string {
  const { noProgressSeconds: _, ...shared } = gates;
  const full = rings.map(({ name, filter = null, upTo = null, approval = false, gates: own = null }) => ({
    ...{ name, filter, upTo, approval, own },
  }));
  return canonical({ full, shared, silent, newcomers, onStepFailure, onHalt });
}

/** Adds a ring before the last one, half-way to all VMs. */
function withRing(rings: readonly SentRing[], name: string): SentRing[] {
  const reached = Math.max(0, ...rings.slice(0, -1).map((ring) => shareOf(ring) ?? 0));
  return [...rings.slice(0, -1), { name, upTo: { percent: Math.round((reached + 100) / 2) } }, ...rings.slice(-1)];
}

/** Removes a ring. The last ring always reaches all VMs. */
function withoutRing(rings: readonly SentRing[], index: number): SentRing[] {
  const left = rings.filter((_, at) => at !== index);
  return left.map((ring, at) => (at === left.length - 1 ? { ...ring, filter: null, upTo: { percent: 100 } } : ring));
}

/** Rules besides gates: silent VMs, availability sets, and VMs that match later. */
function Rules({ form, set, freedom }: Pick<HowCardProps, 'form' | 'set' | 'freedom'>) {
  const { t } = useTranslation('rollouts');
  const isFixed = freedom?.isPaused === false;
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 border-t border-line-subtle pt-3">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the select is a child of the label */}
      <label className="flex flex-wrap items-center gap-2">
        {t('new.silent')}
        <Select
          className="w-auto"
          disabled={isFixed}
          value={form.silent}
          onChange={({ target }) => set({ silent: target.value as RolloutForm['silent'] })}
          options={(['wait', 'declare', 'skip'] as const).map((value) => ({ value, label: t(`new.silent.${value}`) }))}
        />
      </label>
      <ControlRow
        control={
          <Switch
            disabled={isFixed}
            checked={form.availabilitySets === 'respect'}
            onCheckedChange={(checked) => set({ availabilitySets: checked ? 'respect' : 'ignore' })}
          />
        }
      >
        {t('new.sets')}
      </ControlRow>
      <ControlRow
        control={
          <Switch
            // Who belongs to a rollout is fixed from its start.
            disabled={freedom !== undefined}
            checked={form.newcomers === 'include'}
            onCheckedChange={(checked) => set({ newcomers: checked ? 'include' : 'ignore' })}
          />
        }
      >
        {t('new.newcomers')}
      </ControlRow>
    </div>
  );
}
