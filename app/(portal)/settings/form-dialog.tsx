'use client';

import { type ReactNode, useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';

export interface FormDialogProps {
  title: ReactNode;
  description?: string;
  /** Label of the submit button. */
  act: string;
  /** Whether the act ends or deletes something. */
  isDanger?: boolean;
  busy: boolean;
  /** Whether there is nothing to submit yet. */
  isIdle?: boolean;
  /** `wide` for long forms. */
  size?: 'default' | 'wide';
  onSubmit(): void;
  /** Called when the user changes a field. */
  onEdit?: () => void;
  onClose(): void;
  /** A sentence about an error that belongs to no field. */
  error?: string | undefined;
  children: ReactNode;
}

/** A dialog with a form: fields, error, submit and cancel. */
export function FormDialog({
  title,
  description,
  act,
  isDanger = false,
  busy,
  isIdle = false,
  size = 'default',
  onSubmit,
  onEdit,
  onClose,
  error,
  children,
}: FormDialogProps) {
  const { t } = useTranslation('common');
  const formId = useId();
  return (
    <Dialog
      open
      size={size}
      onOpenChange={onClose}
      title={title}
      {...(description === undefined ? {} : { description })}
      footer={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            type="submit"
            form={formId}
            variant={isDanger ? 'danger-solid' : 'primary'}
            disabled={isIdle}
            busy={busy}
          >
            {act}
          </Button>
        </>
      }
    >
      <Form
        id={formId}
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        busy={busy}
        onSubmit={onSubmit}
        {...(onEdit && { onEdit })}
      >
        {children}
        {error === undefined ? null : (
          <div role="alert">
            <FieldError>{error}</FieldError>
          </div>
        )}
      </Form>
    </Dialog>
  );
}
