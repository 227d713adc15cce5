'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { vmOfCell } from './cells.ts';
import type { FleetMap } from './groups.ts';
import type { CellPlace } from './place-cells.ts';
import type { MapVm } from './use-cell-words.ts';
import type { FleetLayout } from './use-fleet-layout.ts';

export interface CellVmOptions {
  map: FleetMap;
  fleet: Pick<FleetLayout, 'vms' | 'perCell'>;
  place: CellPlace | null;
  /** How long `place` must stay the same before its VM is requested, in milliseconds. */
  restMs: number;
  onStale(): void;
}

/** Loads the VM of a cell and returns it; null until it is loaded. */
export function useCellVm({ map, fleet, place, restMs, onStale }: CellVmOptions): MapVm | null {
  const trpc = useTRPC();
  const settled = useSettled(place, restMs);
  const input = settled && {
    groupBy: map.groupBy,
    revision: map.revision,
    group: settled.group,
    index: vmOfCell(fleet.vms[settled.group] ?? new Uint8Array(), settled.cell, fleet.perCell),
  };
  const cell = useQuery({
    ...trpc.overview.cell.queryOptions(input ?? { groupBy: 'none', revision: '', group: 0, index: 0 }),
    enabled: input !== null,
    staleTime: 5_000,
    retry: false,
  });
  const isStale = cell.data?.isStale === true;
  useEffect(() => {
    if (isStale) onStale();
  }, [isStale, onStale]);
  const isSettled = place !== null && settled?.group === place.group && settled.cell === place.cell;
  return isSettled && input !== null ? (cell.data?.cell ?? null) : null;
}

/** Returns the last place that stayed the same for `ms` milliseconds. */
function useSettled(place: CellPlace | null, ms: number): CellPlace | null {
  const [settled, setSettled] = useState<CellPlace | null>(null);
  const group = place?.group;
  const cell = place?.cell;
  useEffect(() => {
    const timer = setTimeout(() => setSettled(group === undefined || cell === undefined ? null : { group, cell }), ms);
    return () => clearTimeout(timer);
  }, [group, cell, ms]);
  return settled;
}

/** Returns `open`, which opens the VM's page as soon as the VM is loaded, and `cancel`, which prevents this. */
export function useOpenVm(vm: MapVm | null): { open(): void; cancel(): void } {
  const router = useRouter();
  const isWaiting = useRef(false);
  const vmId = vm?.id;
  useEffect(() => {
    if (!isWaiting.current || vmId === undefined) return;
    isWaiting.current = false;
    router.push(`/vms/${vmId}`);
  }, [vmId, router]);
  return {
    open: () => {
      isWaiting.current = vmId === undefined;
      if (vmId !== undefined) router.push(`/vms/${vmId}`);
    },
    cancel: () => {
      isWaiting.current = false;
    },
  };
}
