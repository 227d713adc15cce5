CREATE TABLE "pending_restarts" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"requests" json NOT NULL
);
--> statement-breakpoint
ALTER TABLE "pending_restarts" ADD CONSTRAINT "pending_restarts_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;