import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { newPublisherOf } from './namespace-picker.tsx';
import type { RoleChoice } from './role-fields.tsx';

/**
 * For a publisher, creates the new namespace of the choice, if there is one, and then saves the choice with all its
 * namespaces. If saving fails, the new namespace remains, and the choice contains it as an existing namespace. For
 * other roles, saves the choice without namespaces.
 */
export function useNewNamespace(choice: RoleChoice, onChange: (choice: RoleChoice) => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const creation = useMutation(
    trpc.publishers.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.publishers.pathFilter()),
    }),
  );
  const saveAfter = (save: (namespaces: string[]) => void): void => {
    const added = newPublisherOf(choice);
    if (choice.role !== 'publisher') save([]);
    else if (added === undefined) save([...choice.namespaces]);
    else
      creation.mutate(added, {
        onSuccess: ({ namespace }) => {
          const namespaces = [...choice.namespaces, namespace];
          onChange({ ...choice, namespaces, added: undefined });
          save(namespaces);
        },
      });
  };
  return { creation, saveAfter };
}
