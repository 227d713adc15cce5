'use client';

import { AddMachineDialog } from './add-machine-dialog.tsx';
import { AdoptMachineDialog } from './adopt-machine-dialog.tsx';
import { BootstrapDialog } from './bootstrap-dialog.tsx';
import { ClosePortDialog } from './close-port-dialog.tsx';
import { DestroyModelDialog } from './destroy-model-dialog.tsx';
import type { ModelDialogsProps } from './model-acts.ts';
import { PortsDialog } from './ports-dialog.tsx';
import { RemoveMachineDialog } from './remove-machine-dialog.tsx';
import { RenewDialog } from './renew-dialog.tsx';
import { SwapDialog } from './swap-dialog.tsx';

/** The dialog of an act on a model. */
export function ModelDialogs({ act, model, onAdded, onClose }: ModelDialogsProps) {
  switch (act.kind) {
    case 'bootstrap':
      return <BootstrapDialog model={model} onAdded={onAdded} onClose={onClose} />;
    case 'addMachine':
      return <AddMachineDialog model={model} onAdded={onAdded} onClose={onClose} />;
    case 'adoptMachine':
      return <AdoptMachineDialog model={model} onClose={onClose} />;
    case 'removeMachine':
      return <RemoveMachineDialog model={model} role={act.role} onClose={onClose} />;
    case 'renew':
      return <RenewDialog what={act.what} role={act.role} onClose={onClose} />;
    case 'openPort':
      return <PortsDialog role={act.role} onClose={onClose} />;
    case 'closePort':
      return <ClosePortDialog role={act.role} port={act.port} onClose={onClose} />;
    case 'swap':
      return <SwapDialog service={act.service} onClose={onClose} />;
    case 'destroy':
      return <DestroyModelDialog model={model} onClose={onClose} />;
  }
}
