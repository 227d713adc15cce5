'use client';

import { Cable, Plus, Power, Trash2 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { usePageCommands } from '#app/_lib/page-commands.ts';
import { useReader } from '#app/_shell/reader.tsx';
import type { ShownModel } from '../model-data.ts';
import { type ModelAct, takesMachines } from './model-acts.ts';
import { type ServiceAct, takesServices } from './services/service-acts.ts';

/** Lists the acts on this model in the command palette. */
export function useModelCommands(
  model: ShownModel,
  onAct: (act: ModelAct) => void,
  onServiceAct: (act: ServiceAct) => void,
): void {
  const { t } = useTranslation(['models', 'services']);
  const may = useReader().can('operator');
  const isOpen = model.life === 'alive' && model.bootstrappedAt === null;
  const commands = [
    ...(isOpen
      ? [{ id: 'bootstrap', label: t('models:act.bootstrap'), icon: Power, run: () => onAct({ kind: 'bootstrap' }) }]
      : []),
    ...(takesMachines(model)
      ? [{ id: 'add-machine', label: t('models:act.addMachine'), icon: Plus, run: () => onAct({ kind: 'addMachine' }) }]
      : []),
    ...(takesServices(model)
      ? [
          {
            ...{ id: 'deploy', label: t('services:act.deploy'), icon: Plus },
            run: () => onServiceAct({ kind: 'deploy' }),
          },
          {
            ...{ id: 'relate', label: t('services:act.relate'), icon: Cable },
            run: () => onServiceAct({ kind: 'relate' }),
          },
        ]
      : []),
    { id: 'destroy', label: t('models:act.destroy'), icon: Trash2, run: () => onAct({ kind: 'destroy' }) },
  ];
  usePageCommands({ heading: model.name, commands: may ? commands : [] });
}
