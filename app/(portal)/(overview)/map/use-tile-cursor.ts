import { useRouter } from 'next/navigation';
import { type KeyboardEvent, type RefObject, useState } from 'react';
import type { FleetRow } from '#server/domain/views/index.ts';
import { stepTile, type TileStep } from './tiles.ts';

const steps: Readonly<Record<string, TileStep>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
  PageUp: 'previousGroup',
  PageDown: 'nextGroup',
};

/** A VM in a group of the map. */
export interface TileVm {
  row: FleetRow;
  group: number;
}

/** Returns the index of the tile under the keyboard cursor while `box` has the focus, and the event handlers of `box`. */
export function useTileCursor(box: RefObject<HTMLElement | null>, tiles: readonly TileVm[]) {
  const [walked, setWalked] = useState<number | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const router = useRouter();
  const show = (index: number) => {
    setWalked(index);
    elementsIn(box.current)[index]?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || tiles.length === 0) return;
    const step = steps[event.key];
    if (step !== undefined) show(walked === null ? 0 : stepTile(boxesIn(box.current, tiles), walked, step));
    else if (event.key === 'n' || event.key === 'N') {
      const next = nextUnhealthy(tiles, walked ?? -1, event.key === 'n' ? 1 : -1);
      if (next !== null) show(next);
    } else if (event.key === 'Escape' && walked !== null) setWalked(null);
    else if (event.key === 'Enter') {
      const vm = tiles[walked ?? -1]?.row;
      if (vm !== undefined) router.push(`/vms/${vm.id}`);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    current: hasFocus ? walked : null,
    handlers: { onKeyDown, onFocus: () => setFocus(true), onBlur: () => setFocus(false) },
  };
}

const elementsIn = (box: HTMLElement | null): HTMLElement[] => [
  ...(box?.querySelectorAll<HTMLElement>('[data-tile]') ?? []),
];

const boxesIn = (box: HTMLElement | null, tiles: readonly TileVm[]) =>
  elementsIn(box).map((element, index) => {
    const { left, top } = element.getBoundingClientRect();
    return { left, top, group: tiles[index]?.group ?? 0 };
  });

function nextUnhealthy(tiles: readonly TileVm[], from: number, direction: 1 | -1): number | null {
  for (let left = tiles.length, at = from; left > 0; left -= 1) {
    at = (at + direction + tiles.length) % tiles.length;
    if (tiles[at]?.row.health !== 'healthy') return at;
  }
  return null;
}
