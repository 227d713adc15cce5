'use client';

import dynamic from 'next/dynamic';
import type { DueLine } from '../due-lines.ts';
import type { NamedUnit, ShownUnitDetails } from '../unit-data.ts';
import type { UnitAct } from './unit-acts.ts';

const SkipDialog = dynamic(() => import('./skip-dialog.tsx').then((module) => module.SkipDialog), { ssr: false });
const RemoveUnitDialog = dynamic(() => import('./remove-unit-dialog.tsx').then((module) => module.RemoveUnitDialog), {
  ssr: false,
});
const EnrollDialog = dynamic(() => import('./enroll-dialog.tsx').then((module) => module.EnrollDialog), { ssr: false });

const ConnectDialog = dynamic(() => import('./connect-dialog.tsx').then((module) => module.ConnectDialog), {
  ssr: false,
});

export interface UnitDialogsProps {
  act: UnitAct;
  name: NamedUnit;
  unit: ShownUnitDetails;
  lines: readonly DueLine[];
  onClose(): void;
}

/** The dialog of an act on a unit. */
export function UnitDialogs({ act, name, unit, lines, onClose }: UnitDialogsProps) {
  switch (act.kind) {
    case 'skip':
      return <SkipDialog name={name} failure={act.failure} lines={lines} onClose={onClose} />;
    case 'remove':
      return <RemoveUnitDialog name={name} unit={unit} onClose={onClose} />;
    case 'connect':
      return <ConnectDialog name={name} onClose={onClose} />;
    default:
      return <EnrollDialog unit={unit} onClose={onClose} />;
  }
}
