'use client';

import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import type { ListedAct, OnFilter } from './act.ts';
import { ActLine } from './act-line.tsx';

const ActContents = dynamic(() => import('./act-contents.tsx').then((module) => module.ActContents), { ssr: false });

/** One action. Opens to show the values before and after. */
export function ActRow({ act, onFilter }: { act: ListedAct; onFilter: OnFilter }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <li>
      <ActLine act={act} onFilter={onFilter} opens={act.hasContents ? id : null} open={open} onOpen={setOpen} />
      {open ? <ActContents id={id} act={act} /> : null}
    </li>
  );
}
