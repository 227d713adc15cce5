'use client';

import dynamic from 'next/dynamic';
import type { InstanceDetails, VmFacts } from './vm-data.ts';

/** A VM action that opens a dialog. */
export type VmAct =
  | { kind: 'edit' }
  | { kind: 'token' }
  | { kind: 'stock' }
  | { kind: 'stock-key' }
  | { kind: 'stock-end' }
  | { kind: 'hold' }
  | { kind: 'release-hold' }
  | { kind: 'release' }
  | { kind: 'delete' }
  | { kind: 'adopt' }
  | { kind: 'give-back' }
  | { kind: 'revert'; incarnation: number }
  | { kind: 'why-version'; name: string }
  | { kind: 'retry'; name: string; sequenceNumber: number }
  | { kind: 'remove'; name: string; force: boolean };

const EditVmDialog = dynamic(() => import('./edit-vm-dialog.tsx').then((module) => module.EditVmDialog), {
  ssr: false,
});
const TokenDialog = dynamic(() => import('./token-dialog.tsx').then((module) => module.TokenDialog), { ssr: false });
const StockDialog = dynamic(() => import('./stock-dialog.tsx').then((module) => module.StockDialog), { ssr: false });
const TenantKeyDialog = dynamic(() => import('./stock-confirm.tsx').then((module) => module.TenantKeyDialog), {
  ssr: false,
});
const HoldDialog = dynamic(() => import('./hold-dialog.tsx').then((module) => module.HoldDialog), { ssr: false });
const ReleaseHoldDialog = dynamic(() => import('./hold-dialog.tsx').then((module) => module.ReleaseHoldDialog), {
  ssr: false,
});
const EndStockDialog = dynamic(() => import('./stock-confirm.tsx').then((module) => module.EndStockDialog), {
  ssr: false,
});
const ReleaseSecretsDialog = dynamic(
  () => import('./release-secrets-dialog.tsx').then((module) => module.ReleaseSecretsDialog),
  { ssr: false },
);
const DeleteVmDialog = dynamic(() => import('./delete-vm-dialog.tsx').then((module) => module.DeleteVmDialog), {
  ssr: false,
});
const AdoptDialog = dynamic(() => import('./model/adopt-dialog.tsx').then((module) => module.AdoptDialog), {
  ssr: false,
});
const GiveBackDialog = dynamic(() => import('./model/give-back-dialog.tsx').then((module) => module.GiveBackDialog), {
  ssr: false,
});
const RevertDialog = dynamic(() => import('./goal-states/revert-dialog.tsx').then((module) => module.RevertDialog), {
  ssr: false,
});
const RetryDialog = dynamic(() => import('./retry/retry-dialog.tsx').then((module) => module.RetryDialog), {
  ssr: false,
});
const VersionDialog = dynamic(() => import('./rollouts/version-dialog.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});
const RemoveExtensionDialog = dynamic(
  () => import('./remove-extension-dialog.tsx').then((module) => module.RemoveExtensionDialog),
  { ssr: false },
);

export interface VmDialogsProps {
  act: VmAct;
  facts: VmFacts;
  view: InstanceDetails;
  gatewayUrl: string;
  onClose(): void;
}

/** The dialog for an action. Its script is loaded when the dialog opens. */
export function VmDialogs({ act, facts, view, gatewayUrl, onClose }: VmDialogsProps) {
  switch (act.kind) {
    case 'edit':
      return <EditVmDialog facts={facts} onClose={onClose} />;
    case 'token':
      return <TokenDialog facts={facts} gatewayUrl={gatewayUrl} onClose={onClose} />;
    case 'stock':
      return <StockDialog facts={facts} gatewayUrl={gatewayUrl} onClose={onClose} />;
    case 'stock-key':
      return <TenantKeyDialog facts={facts} onClose={onClose} />;
    case 'hold':
      return <HoldDialog facts={facts} view={view} onClose={onClose} />;
    case 'release-hold':
      return <ReleaseHoldDialog facts={facts} onClose={onClose} />;
    case 'stock-end':
      return <EndStockDialog facts={facts} onClose={onClose} />;
    case 'release':
      return <ReleaseSecretsDialog facts={facts} view={view} onClose={onClose} />;
    case 'delete':
      return <DeleteVmDialog facts={facts} view={view} onClose={onClose} />;
    case 'adopt':
      return <AdoptDialog facts={facts} onClose={onClose} />;
    case 'give-back':
      return <GiveBackDialog facts={facts} onClose={onClose} />;
    case 'revert':
      return <RevertDialog facts={facts} incarnation={act.incarnation} onClose={onClose} />;
    case 'retry':
      return <RetryDialog vmId={facts.id} name={act.name} sequenceNumber={act.sequenceNumber} onClose={onClose} />;
    case 'why-version':
      return <VersionDialog vmId={facts.id} name={act.name} onClose={onClose} />;
    case 'remove':
      return <RemoveExtensionDialog facts={facts} name={act.name} force={act.force} onClose={onClose} />;
  }
}
