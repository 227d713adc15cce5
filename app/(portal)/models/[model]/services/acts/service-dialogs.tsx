'use client';

import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import { AddUnitsDialog } from './add-units-dialog.tsx';
import { DeployDialog } from './deploy-dialog.tsx';
import { DestroyServiceDialog } from './destroy-service-dialog.tsx';
import { ExposeDialog } from './expose-dialog.tsx';
import { RelateDialog } from './relate-dialog.tsx';
import { RemoveUnitDialog } from './remove-unit-dialog.tsx';
import { RemoveUnitsDialog } from './remove-units-dialog.tsx';
import { SettingsDialog } from './settings-dialog.tsx';
import { UpgradeDialog } from './upgrade-dialog.tsx';

/** The dialog of an act on services, with the words that only dialogs need. */
export function ServiceDialogs(props: ServiceDialogsProps) {
  return (
    <WordsOnDemand namespaces={['editor']} onFailed={props.onClose}>
      <DialogOfAct {...props} />
    </WordsOnDemand>
  );
}

function DialogOfAct({ act, model, onAct, onAdded, onClose }: ServiceDialogsProps) {
  switch (act.kind) {
    case 'deploy':
      return <DeployDialog model={model} onAdded={onAdded} onClose={onClose} />;
    case 'relate':
      return (
        <RelateDialog
          model={model.name}
          service={act.service}
          endpoint={act.endpoint}
          onDeploy={() => onAct({ kind: 'deploy' })}
          onClose={onClose}
        />
      );
    case 'expose':
      return <ExposeDialog model={model} service={act.service} onClose={onClose} />;
    case 'addUnits':
      return <AddUnitsDialog model={model} service={act.service} onAdded={onAdded} onClose={onClose} />;
    case 'removeUnits':
      return <RemoveUnitsDialog model={model} service={act.service} onClose={onClose} />;
    case 'removeUnit':
      return <RemoveUnitDialog model={model} unit={act.unit} onClose={onClose} />;
    case 'upgrade':
      return <UpgradeDialog model={model} service={act.service} version={act.version} onClose={onClose} />;
    case 'settings':
      return <SettingsDialog model={model} service={act.service} onClose={onClose} />;
    case 'destroy':
      return <DestroyServiceDialog model={model} service={act.service} onClose={onClose} />;
  }
}
