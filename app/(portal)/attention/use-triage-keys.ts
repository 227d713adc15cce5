'use client';

import { type RefObject, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import type { AttentionVm, OpenVm } from './attention-data.ts';
import type { ProblemVms } from './use-problem-vms.ts';

export interface TriageKeys {
  /** The element that contains the rows. Each row has the attribute `data-triage-row`. */
  rows: RefObject<HTMLElement | null>;
  groups: readonly AttentionGroup[];
  /** The problem whose VMs are shown. */
  group: AttentionGroup | undefined;
  vms: ProblemVms;
  open: OpenVm | null;
  unfold(key: string): void;
  onOpen(open: OpenVm | null): void;
}

/**
 * Binds `j` and `k` to the rows, and `[` and `]` to the VMs: after the last VM of a problem, `]` continues with the
 * next problem. Escape closes the side panel. Returns the function that steps through the VMs.
 */
export function useTriageKeys({ rows, groups, group, vms, open, unfold, onOpen }: TriageKeys): (by: 1 | -1) => void {
  const { t } = useTranslation('attention');
  // The VM that `[` or `]` requested but that is not loaded yet.
  const [wanted, setWanted] = useState<{ key: string; at: 'first' | 'last' | number } | null>(null);
  const walk = (step: 1 | -1): void => {
    const all = [...(rows.current?.querySelectorAll<HTMLElement>('[data-triage-row]') ?? [])];
    const at = all.findIndex((row) => row.matches(':focus'));
    all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
  };
  const show = (key: string, { id: vmId, name }: AttentionVm): void => {
    onOpen({ key, vmId, name });
    const row = rows.current?.querySelector<HTMLElement>(`[data-triage-row="${vmId}"]`);
    row?.scrollIntoView({ block: 'nearest' });
  };
  const turnTo = (step: 1 | -1): void => {
    const at = groups.findIndex(({ key }) => key === group?.key);
    const next = groups[at < 0 ? 0 : at + step];
    if (next === undefined) return;
    setWanted({ key: next.key, at: step > 0 ? 'first' : 'last' });
    unfold(next.key);
  };
  const step = (by: 1 | -1): void => {
    if (group !== undefined && vms.isPending) {
      setWanted({ key: group.key, at: by > 0 ? 'first' : 'last' });
      return;
    }
    const at = open === null ? (by > 0 ? -1 : vms.items.length) : vms.items.findIndex(({ id }) => id === open.vmId);
    const next = group === undefined ? undefined : vms.items[at + by];
    if (group !== undefined && next !== undefined) show(group.key, next);
    else if (group !== undefined && by > 0 && vms.hasMore) {
      setWanted({ key: group.key, at: vms.items.length });
      void vms.more();
    } else turnTo(by);
  };
  const showWanted = useEffectEvent(() => {
    if (wanted === null || wanted.key !== group?.key) return;
    const at = wanted.at === 'first' ? 0 : wanted.at === 'last' ? vms.items.length - 1 : wanted.at;
    const vm = vms.items[at];
    if (vm === undefined) return;
    setWanted(null);
    show(wanted.key, vm);
  });
  const loaded = vms.items.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect waits for the VMs to be loaded
  useEffect(() => showWanted(), [loaded, group?.key]);
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => walk(1) },
    { key: 'k', label: t('keys.previous'), run: () => walk(-1) },
    { key: ']', label: t('keys.nextVm'), run: () => step(1) },
    { key: '[', label: t('keys.previousVm'), run: () => step(-1) },
    { key: 'Escape', label: t('keys.close'), run: () => onOpen(null) },
  ]);
  return step;
}
