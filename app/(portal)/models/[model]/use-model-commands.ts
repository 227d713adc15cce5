'use client';

import { Plus, Power, Trash2 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { usePageCommands } from '#app/_lib/page-commands.ts';
import { useReader } from '#app/_shell/reader.tsx';
import type { ShownModel } from '../model-data.ts';
import { type ModelAct, takesMachines } from './model-acts.ts';

/** Lists the acts on this model in the command palette. */
export function useModelCommands(model: ShownModel, onAct: (act: ModelAct) => void): void {
  const { t } = useTranslation('models');
  const may = useReader().can('operator');
  const isOpen = model.life === 'alive' && model.bootstrappedAt === null;
  const commands = [
    ...(isOpen
      ? [{ id: 'bootstrap', label: t('act.bootstrap'), icon: Power, run: () => onAct({ kind: 'bootstrap' }) }]
      : []),
    ...(takesMachines(model)
      ? [{ id: 'add-machine', label: t('act.addMachine'), icon: Plus, run: () => onAct({ kind: 'addMachine' }) }]
      : []),
    { id: 'destroy', label: t('act.destroy'), icon: Trash2, run: () => onAct({ kind: 'destroy' }) },
  ];
  usePageCommands({ heading: model.name, commands: may ? commands : [] });
}
