'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Facts } from '#app/_ui/page-header.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { modelHref, placeHref } from '#app/(portal)/models/model-data.ts';
import type { VmFacts } from './vm-data.ts';

/** Where the VM of a role is: its model, cloud service, availability set and instance ID. */
export function RoleFacts({ role }: { role: NonNullable<VmFacts['role']> }) {
  const { t } = useTranslation('vms');
  const { model, cloudService, availabilitySet, instanceId } = role;
  return (
    <Facts
      items={[
        { label: t('vm.fact.role'), value: <Place href={modelHref(model)}>{model}</Place> },
        {
          label: t('vm.fact.cloudService'),
          value: <Place href={placeHref({ cloudService })}>{cloudService}</Place>,
        },
        ...(availabilitySet === null
          ? []
          : [
              {
                label: t('vm.fact.availabilitySet'),
                value: (
                  <Place href={placeHref({ availabilitySet: `${cloudService}/${availabilitySet}` })}>
                    {availabilitySet}
                  </Place>
                ),
              },
            ]),
        {
          label: t('vm.fact.instanceId'),
          value: (
            <span translate="no" className="mono">
              {instanceId}
            </span>
          ),
        },
      ]}
    />
  );
}

function Place({ href, children }: { href: string; children: string }) {
  return (
    <TextLink href={href} prefetch={false} translate="no" className="mono">
      {children}
    </TextLink>
  );
}
