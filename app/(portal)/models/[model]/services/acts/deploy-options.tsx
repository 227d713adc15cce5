'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import { endpointText, type ShownPair } from '../endpoint-pairs.ts';

export interface DeployOptionsProps {
  /** The name of the new service. */
  name: string;
  pairs: readonly ShownPair[];
  related: readonly ShownPair[];
  onRelated(pair: ShownPair, isRelated: boolean): void;
  exposed: boolean;
  onExposed(exposed: boolean): void;
}

/** Which services the new service is related to, and whether it is exposed. */
export function DeployOptions({ name, pairs, related, onRelated, exposed, onExposed }: DeployOptionsProps) {
  const { t } = useTranslation('services');
  return (
    <>
      {pairs.length === 0 ? null : (
        <fieldset className="grid gap-2">
          <legend className="mb-2 text-13 font-semibold">{t('model.relations')}</legend>
          {pairs.map((pair) => {
            const isOwn = pair.requires.service === name;
            const [own, other] = isOwn ? [pair.requires, pair.provides] : [pair.provides, pair.requires];
            return (
              <ControlRow
                key={`${endpointText(pair.requires)} ${endpointText(pair.provides)}`}
                control={
                  <Checkbox
                    checked={related.includes(pair)}
                    onCheckedChange={(checked) => onRelated(pair, checked === true)}
                  />
                }
                hint={t(isOwn && !pair.optional ? 'deploy.required' : 'deploy.optional', { interface: pair.interface })}
              >
                <Trans
                  text={t('deploy.relate', { own: own.name, other: endpointText(other) })}
                  tags={{ code: <span translate="no" className="mono" /> }}
                />
              </ControlRow>
            );
          })}
        </fieldset>
      )}
      <ControlRow control={<Switch checked={exposed} onCheckedChange={onExposed} />} hint={t('deploy.expose.hint')}>
        {t('deploy.expose')}
      </ControlRow>
    </>
  );
}
