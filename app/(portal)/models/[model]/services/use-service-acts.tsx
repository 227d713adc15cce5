'use client';

import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import type { AddedMachine, ShownModel } from '../../model-data.ts';
import type { ServiceAct } from './service-acts.ts';

const ServiceDialogs = dynamic(() => import('./acts/service-dialogs.tsx').then((module) => module.ServiceDialogs), {
  ssr: false,
});
const NewMachinesDialog = dynamic(
  () => import('../new-machines-dialog.tsx').then((module) => module.NewMachinesDialog),
  { ssr: false },
);

/** Returns a function that opens the dialog of an act on services, and the open dialog. */
export function useServiceActs(model: ShownModel): { act(act: ServiceAct): void; dialogs: ReactNode } {
  const [act, setAct] = useState<ServiceAct | null>(null);
  const [added, setAdded] = useState<readonly AddedMachine[]>([]);
  return {
    act: setAct,
    dialogs: (
      <>
        {act === null ? null : (
          <ServiceDialogs
            key={act.kind}
            act={act}
            model={model}
            onAct={setAct}
            onAdded={setAdded}
            onClose={() => setAct(null)}
          />
        )}
        {added.length === 0 ? null : <NewMachinesDialog machines={added} onClose={() => setAdded([])} />}
      </>
    ),
  };
}
