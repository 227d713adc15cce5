'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import type { ShownModel } from '../model-data.ts';

/** The parts of a model in the order in which the destruction deletes them. */
export const destroyedParts = ['machines', 'cloudServices', 'place', 'storage'] as const;

type Part = (typeof destroyedParts)[number];

/** Returns the part that the destruction is deleting. */
function partBeingDestroyed({ machines, cloudServices }: Pick<ShownModel, 'machines' | 'cloudServices'>): Part {
  if (machines > 0) return 'machines';
  return cloudServices > 0 ? 'cloudServices' : 'place';
}

/** The order in which a model is destroyed, with what is done and what remains. */
export function Destruction({ model }: { model: ShownModel }) {
  const say = usePart(model);
  const { t } = useTranslation('models');
  const at = destroyedParts.indexOf(partBeingDestroyed(model));
  return (
    <>
      <ol className="mt-1.5 grid gap-1">
        {destroyedParts.map((part, index) => {
          const state = index < at ? 'done' : index === at ? 'running' : 'waiting';
          const status: StatusName = state === 'done' ? 'healthy' : state === 'running' ? 'progressing' : 'waiting';
          return (
            <li key={part} className="flex items-center gap-2">
              <StatusIcon status={status} />
              <span className={state === 'running' ? 'font-medium text-ink' : undefined}>{say(part)}</span>
              <span className="sr-only">, {t(`destroy.${state}`)}</span>
            </li>
          );
        })}
      </ol>
      {model.warnings.map(({ code, name }) => (
        <p key={name} data-st="warning" className="mt-1.5 text-st-text">
          {t(`destroy.warning.${code}`, { name })}
        </p>
      ))}
    </>
  );
}

/** Returns a function that says a part of a model with its number or name. */
export function usePart({
  machines,
  cloudServices,
  affinityGroup,
  network,
  storageAccount,
}: ShownModel): (part: Part) => string {
  const { t } = useTranslation('models');
  return (part) => {
    if (part === 'machines') return t('destroy.part.machines', { count: machines });
    if (part === 'cloudServices') return t('destroy.part.cloudServices', { count: cloudServices });
    return part === 'place'
      ? t('destroy.part.place', { affinityGroup, network })
      : t('destroy.part.storage', { account: storageAccount });
  };
}
