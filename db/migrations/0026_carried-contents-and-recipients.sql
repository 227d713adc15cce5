ALTER TABLE "invitations" ADD COLUMN "recipient" text;--> statement-breakpoint
ALTER TABLE "resources" ADD COLUMN "carried_from" text;--> statement-breakpoint
ALTER TABLE "handler_versions" ADD COLUMN "settings_schema_from" text;