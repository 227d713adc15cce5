'use client';

import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import type { FoldedActs, OnFilter } from './act.ts';
import { ActLine } from './act-line.tsx';
import type { ActivityQuery } from './activity-address.ts';

const FoldContents = dynamic(() => import('./fold-contents.tsx').then((module) => module.FoldContents), { ssr: false });

export interface FoldRowProps extends Pick<FoldedActs, 'act'> {
  fold: NonNullable<FoldedActs['fold']>;
  /** The filter of the list, which also applies to the individual actions. */
  filter: ActivityQuery;
  onFilter: OnFilter;
}

/** Several similar actions in one line. Opens to show each of them. */
export function FoldRow({ act, fold, filter, onFilter }: FoldRowProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <li>
      <ActLine act={act} fold={fold} onFilter={onFilter} opens={id} open={open} onOpen={setOpen} />
      {open ? <FoldContents id={id} act={act} fold={fold} filter={filter} onFilter={onFilter} /> : null}
    </li>
  );
}
