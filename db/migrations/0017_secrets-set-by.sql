ALTER TABLE "stock_agents" ALTER COLUMN "tenant_key" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "enrolled_by" text;--> statement-breakpoint
ALTER TABLE "enrollment_tokens" ADD COLUMN "issued_by" text;--> statement-breakpoint
ALTER TABLE "enrollment_tokens" ADD COLUMN "issued_by_name" text;--> statement-breakpoint
ALTER TABLE "secrets" ADD COLUMN "set_by" text;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD COLUMN "issued_by" text;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD COLUMN "wrapped_tenant_key" "bytea";--> statement-breakpoint
-- Who entered existing secrets and who issued existing tokens is known from the activity. What it does not say stays null.
UPDATE "secrets" s SET "set_by" = e.actor_kind || ':' || e.actor_id
  FROM (
    SELECT DISTINCT ON (vm_id, after #>> '{protectedSettings,$sealed}')
           vm_id, after #>> '{protectedSettings,$sealed}' AS secret_id, actor_kind, actor_id
      FROM "audit_entries"
     WHERE action = 'extension.set' AND after #>> '{protectedSettings,$sealed}' IS NOT NULL
     ORDER BY vm_id, after #>> '{protectedSettings,$sealed}', id
  ) e
 WHERE e.vm_id = s.vm_id AND e.secret_id = s.id::text;--> statement-breakpoint
UPDATE "enrollment_tokens" t SET "issued_by" = e.actor_kind || ':' || e.actor_id, "issued_by_name" = e.actor_name
  FROM "audit_entries" e
 WHERE e.vm_id = t.vm_id AND e.at = t.created_at AND e.action IN ('enrollment-token.issue', 'vm.create');--> statement-breakpoint
UPDATE "agents" a SET "enrolled_by" = t.issued_by_name
  FROM "enrollment_tokens" t
 WHERE t.vm_id = a.vm_id AND t.used_key = a.key_hash AND t.used_at = a.enrolled_at;--> statement-breakpoint
UPDATE "stock_agents" s SET "issued_by" = e.actor_kind || ':' || e.actor_id
  FROM "audit_entries" e
 WHERE e.vm_id = s.vm_id AND e.at = s.granted_at AND e.action = 'wire-access.grant';
