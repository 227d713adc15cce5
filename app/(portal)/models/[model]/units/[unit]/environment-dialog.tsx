'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { environmentOf } from '../environment-of.ts';
import type { NamedUnit, ShownRunDetails } from '../unit-data.ts';

export interface EnvironmentDialogProps {
  name: NamedUnit;
  run: ShownRunDetails;
  onClose(): void;
}

/** The variables that a hook gets, for people who run it by hand. */
export function EnvironmentDialog({ name, run, onClose }: EnvironmentDialogProps) {
  const { t } = useTranslation('services');
  const text = environmentOf(name.model, run)
    .map(([variable, value]) => `${variable}=${value}`)
    .join('\n');
  return (
    <Dialog
      open
      size="wide"
      onOpenChange={onClose}
      title={t('unit.environment.title', { hook: run.hook })}
      description={t('unit.environment.why')}
    >
      <div className="relative">
        <CodeBlock code={text} label={t('unit.act.environment')} numbers={false} />
        <CopyButton text={text} className="absolute end-1.5 top-1.5 bg-raised" />
      </div>
      <p className="text-12 text-pretty text-ink-3">{t('unit.environment.client')}</p>
    </Dialog>
  );
}
