'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { AddedMachine } from '../model-data.ts';

export interface NewMachinesDialogProps {
  machines: readonly AddedMachine[];
  onClose(): void;
}

/** Shows the commands that enroll new machines, and the passwords of their first users, which are shown only once. */
export function NewMachinesDialog({ machines, onClose }: NewMachinesDialogProps) {
  const { t } = useTranslation('models');
  const [first] = machines;
  return (
    <Dialog
      open
      size="wide"
      onOpenChange={onClose}
      title={t('added.title', { count: machines.length })}
      description={t('added.why', { count: machines.length })}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('added.done')}
        </Button>
      }
    >
      {first?.startsAgents ? <p className="text-13 text-ink-2">{t('added.startsAgents')}</p> : null}
      {machines.map((machine) => (
        <section key={machine.instanceId} aria-label={machine.vm} className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
          <h3 translate="no" className="font-medium">
            {machine.vm}
          </h3>
          <p className="text-12 text-ink-2">{t('added.command')}</p>
          <CopyCommand whole command={machine.command} />
          <p className="text-12 text-ink-2">{t('added.password', { user: machine.userName })}</p>
          <CopyCommand whole command={machine.password} />
        </section>
      ))}
      {first === undefined ? null : (
        <p className="text-12 text-ink-3">
          {t('added.until')} <DateTime value={new Date(first.enrollmentExpiresAt)} />
        </p>
      )}
    </Dialog>
  );
}
